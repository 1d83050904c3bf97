// ByteReader: little-endian numbers out of untrusted bytes, one after the other. Never reads past the end.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace plait {

static_assert(std::endian::native == std::endian::little, "model files are little endian, and so must be the machine");

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::size_t position() const { return position_; }
  std::size_t left() const { return bytes_.size() - position_; }

  // False, and nothing read, when fewer bytes remain.
  template <class T>
  [[nodiscard]] bool read(T& out) {
    static_assert(std::is_arithmetic_v<T>);
    if (left() < sizeof(T)) return false;
    std::memcpy(&out, bytes_.data() + position_, sizeof(T));
    position_ += sizeof(T);
    return true;
  }

  // The next `size` bytes as text, without a copy.
  [[nodiscard]] bool read_text(std::uint64_t size, std::string_view& out) {
    if (left() < size) return false;
    out = {reinterpret_cast<const char*>(bytes_.data() + position_), static_cast<std::size_t>(size)};
    position_ += static_cast<std::size_t>(size);
    return true;
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
};

}  // namespace plait
