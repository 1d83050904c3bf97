// Metadata of a GGUF header: keys with numbers, strings and flat arrays.
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "io/gguf_parts.h"

namespace plait {
namespace {

enum class ValueType : std::uint32_t {
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kF32,
  kBool,
  kString,
  kArray,
  kU64,
  kI64,
  kF64,
};
constexpr std::uint32_t kValueTypes = 13;

// Least bytes of one value: of a string its length, of an array its element type and count.
constexpr std::array<std::uint64_t, kValueTypes> kLeastBytes{1, 1, 2, 2, 4, 4, 4, 1, 8, 12, 8, 8, 8};

bool is_integer(ValueType type) {
  return type <= ValueType::kI32 || type == ValueType::kU64 || type == ValueType::kI64;
}

class MetadataReader {
 public:
  MetadataReader(std::string_view path, ByteReader& reader) : path_(path), reader_(reader) {}

  Result<MetadataEntry> entry(std::uint64_t index, std::uint64_t count) {
    where_ = fmt::format("metadata entry {} of {}", index + 1, count);
    auto key = string(GgufLimits::kKeyBytes);
    if (!key) return fail(std::move(key.error()));
    if (key->empty()) return wrong("has an empty key");
    if (!is_printable(*key)) return wrong(fmt::format("has a key with control characters, '{}'", printable(*key)));
    where_ = fmt::format("key '{}'", *key);
    auto type = value_type();
    if (!type) return fail(std::move(type.error()));
    auto value = *type == ValueType::kArray ? array() : scalar(*type);
    if (!value) return fail(std::move(value.error()));
    return MetadataEntry{*key, std::move(*value)};
  }

 private:
  Unexpected wrong(std::string_view what) const {
    return fail(ErrorCode::kCorrupt, fmt::format("{}: {} {}", path_, where_, what));
  }
  Unexpected ends() const {
    return fail(ErrorCode::kCorrupt, fmt::format("{}: the file ends inside {}", path_, where_));
  }

  Result<ValueType> value_type() {
    std::uint32_t type = 0;
    if (!reader_.read(type)) return ends();
    if (type >= kValueTypes) return wrong(fmt::format("has value type {}, known are 0 to {}", type, kValueTypes - 1));
    return static_cast<ValueType>(type);
  }

  Result<std::string_view> string(std::uint64_t most_bytes) {
    std::uint64_t size = 0;
    if (!reader_.read(size)) return ends();
    if (size > most_bytes)
      return wrong(fmt::format("has a string of {} bytes, at most {} are allowed", size, most_bytes));
    std::string_view out;
    if (!reader_.read_text(size, out)) {
      return wrong(fmt::format("has a string of {} bytes, but the file ends {} bytes on", size, reader_.left()));
    }
    return out;
  }

  template <class T>
  Result<std::int64_t> integer_as() {
    T value = 0;
    if (!reader_.read(value)) return ends();
    if (!std::in_range<std::int64_t>(value))
      return wrong(fmt::format("is {}, more than a 64-bit signed integer", value));
    return static_cast<std::int64_t>(value);
  }

  Result<std::int64_t> integer(ValueType type) {
    switch (type) {
      case ValueType::kU8:
        return integer_as<std::uint8_t>();
      case ValueType::kI8:
        return integer_as<std::int8_t>();
      case ValueType::kU16:
        return integer_as<std::uint16_t>();
      case ValueType::kI16:
        return integer_as<std::int16_t>();
      case ValueType::kU32:
        return integer_as<std::uint32_t>();
      case ValueType::kI32:
        return integer_as<std::int32_t>();
      case ValueType::kU64:
        return integer_as<std::uint64_t>();
      default:
        return integer_as<std::int64_t>();
    }
  }

  Result<double> floating(ValueType type) {
    float narrow = 0;
    double wide = 0;
    if (type == ValueType::kF32 ? !reader_.read(narrow) : !reader_.read(wide)) return ends();
    return type == ValueType::kF32 ? static_cast<double>(narrow) : wide;
  }

  Result<bool> boolean() {
    std::uint8_t value = 0;
    if (!reader_.read(value)) return ends();
    if (value > 1) return wrong(fmt::format("has the truth value {}, wanted 0 or 1", value));
    return value == 1;
  }

  Result<MetadataValue> scalar(ValueType type) {
    if (is_integer(type)) return as_value(integer(type));
    if (type == ValueType::kBool) return as_value(boolean());
    if (type == ValueType::kString) return as_value(string(GgufLimits::kStringBytes));
    return as_value(floating(type));
  }

  Result<MetadataValue> array() {
    auto type = value_type();
    if (!type) return fail(std::move(type.error()));
    if (*type == ValueType::kArray) return wrong("is an array of arrays, wanted numbers, truth values or strings");
    std::uint64_t count = 0;
    if (!reader_.read(count)) return ends();
    if (count > GgufLimits::kArrayElements) {
      return wrong(fmt::format("has {} elements, at most {} are allowed", count, GgufLimits::kArrayElements));
    }
    const std::uint64_t least = kLeastBytes[static_cast<std::size_t>(*type)];
    if (count > reader_.left() / least) {
      return wrong(fmt::format("has {} elements of at least {} bytes, but the file ends {} bytes on", count, least,
                               reader_.left()));
    }
    if (is_integer(*type)) return elements<std::int64_t>(count, [&] { return integer(*type); });
    if (*type == ValueType::kBool) return elements<bool>(count, [&] { return boolean(); });
    if (*type == ValueType::kString) {
      return elements<std::string_view>(count, [&] { return string(GgufLimits::kStringBytes); });
    }
    return elements<double>(count, [&] { return floating(*type); });
  }

  template <class T, class Next>
  static Result<MetadataValue> elements(std::uint64_t count, Next next) {
    std::vector<T> out;
    out.reserve(static_cast<std::size_t>(count));
    for (std::uint64_t i = 0; i < count; ++i) {
      auto value = next();
      if (!value) return fail(std::move(value.error()));
      out.push_back(*value);
    }
    return MetadataValue(std::move(out));
  }

  template <class T>
  static Result<MetadataValue> as_value(Result<T> value) {
    if (!value) return fail(std::move(value.error()));
    return MetadataValue(std::in_place_type<T>, *value);
  }

  std::string_view path_;
  ByteReader& reader_;
  std::string where_;
};

}  // namespace

Result<std::vector<MetadataEntry>> read_gguf_metadata(std::string_view path, ByteReader& reader, std::uint64_t count) {
  std::vector<MetadataEntry> out;
  out.reserve(static_cast<std::size_t>(count));
  MetadataReader entries(path, reader);
  for (std::uint64_t i = 0; i < count; ++i) {
    auto entry = entries.entry(i, count);
    if (!entry) return fail(std::move(entry.error()));
    out.push_back(std::move(*entry));
  }
  return out;
}

}  // namespace plait
