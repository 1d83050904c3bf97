// GgufBytes: builds GGUF files byte by byte, right ones and wrong ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace plait {

// Value types of the format, as numbers, so that tests can write wrong ones too.
enum GgufType : std::uint32_t {
  kGgufU8,
  kGgufI8,
  kGgufU16,
  kGgufI16,
  kGgufU32,
  kGgufI32,
  kGgufF32,
  kGgufBool,
  kGgufString,
  kGgufArray,
  kGgufU64,
  kGgufI64,
  kGgufF64,
};

// Keys and tensors are appended in order; build() puts header and data together. Every wrong file of the tests is a
// right one with one thing changed: a raw key, an offset, a count.
class GgufBytes {
 public:
  std::uint32_t version = 3;
  std::int64_t tensor_count_change = 0;  // Added to the true count.
  std::int64_t key_count_change = 0;
  std::size_t alignment = 32;  // What data is placed by; the key general.alignment is the caller's to write.

  template <class T>
  static void append(std::vector<std::byte>& to, T value) {
    const std::size_t at = to.size();
    to.resize(at + sizeof(T));
    std::memcpy(to.data() + at, &value, sizeof(T));
  }
  static void append_text(std::vector<std::byte>& to, std::string_view text) {
    append<std::uint64_t>(to, text.size());
    for (const char letter : text) to.push_back(static_cast<std::byte>(letter));
  }

  // A key with its type; the value follows by raw() or text().
  GgufBytes& key(std::string_view name, std::uint32_t type) {
    append_text(keys_, name);
    append(keys_, type);
    ++key_count_;
    return *this;
  }
  template <class T>
  GgufBytes& raw(T value) {
    append(keys_, value);
    return *this;
  }
  GgufBytes& text(std::string_view value) {
    append_text(keys_, value);
    return *this;
  }
  template <class T>
  GgufBytes& number(std::string_view name, std::uint32_t type, T value) {
    return key(name, type).raw(value);
  }
  GgufBytes& string(std::string_view name, std::string_view value) { return key(name, kGgufString).text(value); }
  // The head of an array; its elements follow.
  GgufBytes& array(std::string_view name, std::uint32_t element_type, std::uint64_t count) {
    return key(name, kGgufArray).raw(element_type).raw(count);
  }

  // A tensor of `bytes` bytes behind the ones before it. The data is zeros unless fill() is called.
  GgufBytes& tensor(std::string_view name, std::uint32_t type, std::vector<std::int64_t> extents, std::size_t bytes) {
    data_.resize((data_.size() + alignment - 1) / alignment * alignment);
    const std::size_t offset = data_.size();
    data_.resize(offset + bytes);
    return record(name, type, std::move(extents), offset);
  }
  // Only the record.
  GgufBytes& record(std::string_view name, std::uint32_t type, std::vector<std::int64_t> extents,
                    std::uint64_t offset) {
    append_text(records_, name);
    append(records_, static_cast<std::uint32_t>(extents.size()));
    for (const std::int64_t extent : extents) append(records_, extent);
    append(records_, type);
    append(records_, offset);
    ++tensor_count_;
    return *this;
  }
  std::vector<std::byte>& data() { return data_; }

  std::vector<std::byte> build() const {
    std::vector<std::byte> out;
    append(out, std::uint32_t{0x46554747});  // "GGUF"
    append(out, version);
    append(out, tensor_count_ + tensor_count_change);
    append(out, key_count_ + key_count_change);
    out.insert(out.end(), keys_.begin(), keys_.end());
    out.insert(out.end(), records_.begin(), records_.end());
    if (!data_.empty()) out.resize((out.size() + alignment - 1) / alignment * alignment);
    out.insert(out.end(), data_.begin(), data_.end());
    return out;
  }

 private:
  std::vector<std::byte> keys_, records_, data_;
  std::int64_t key_count_ = 0;
  std::int64_t tensor_count_ = 0;
};

// A small right file: every kind of value, three tensors.
inline GgufBytes small_gguf() {
  GgufBytes file;
  file.string("general.architecture", "toy");
  file.number<std::uint8_t>("n.u8", kGgufU8, 200).number<std::int8_t>("n.i8", kGgufI8, -3);
  file.number<std::uint16_t>("n.u16", kGgufU16, 60'000).number<std::int16_t>("n.i16", kGgufI16, -300);
  file.number<std::uint32_t>("n.u32", kGgufU32, 4'000'000'000u).number<std::int32_t>("n.i32", kGgufI32, -5);
  file.number<std::uint64_t>("n.u64", kGgufU64, 1u << 20).number<std::int64_t>("n.i64", kGgufI64, -7);
  file.number<float>("n.f32", kGgufF32, 0.5f).number<double>("n.f64", kGgufF64, 0.1);
  file.number<std::uint8_t>("n.bool", kGgufBool, 1);
  file.array("a.i32", kGgufI32, 3).raw<std::int32_t>(1).raw<std::int32_t>(-2).raw<std::int32_t>(3);
  file.array("a.f32", kGgufF32, 2).raw(1.5f).raw(-2.5f);
  file.array("a.bool", kGgufBool, 2).raw<std::uint8_t>(0).raw<std::uint8_t>(1);
  file.array("a.string", kGgufString, 2).text("one").text("");
  file.tensor("a.weight", 0, {4, 2}, 32).tensor("b.weight", 2, {32, 3}, 54).tensor("c.bias", 1, {5}, 10);
  return file;
}

}  // namespace plait
