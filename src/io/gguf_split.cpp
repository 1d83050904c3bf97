// Split sets: NAME-00001-of-00005.gguf and its sisters, and the keys that tie them together.
#include "io/gguf_split.h"

#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace plait {
namespace {

constexpr std::string_view kMiddle = "-of-";
constexpr std::string_view kEnd = ".gguf";
constexpr std::size_t kDigits = 5;
constexpr std::int64_t kMostParts = 65'535;  // split.count is 16 bits wide.

// The number of five digits; -1: something else stands there.
int five_digits(std::string_view text) {
  int value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
  }
  return value;
}

Result<std::int64_t> integer_key(std::string_view path, const Gguf& gguf, std::string_view key, std::int64_t most) {
  const MetadataValue* const value = gguf.find(key);
  if (value == nullptr) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("{}: is part of a split set, but has no key '{}'", printable(path), key));
  }
  const auto* const number = std::get_if<std::int64_t>(value);
  if (number == nullptr)
    return fail(ErrorCode::kCorrupt, fmt::format("{}: key '{}' is no integer", printable(path), key));
  if (*number < 0 || *number > most) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("{}: key '{}' is {}, wanted 0 to {}", printable(path), key, *number, most));
  }
  return *number;
}

}  // namespace

std::string SplitName::path_of(int wanted) const { return fmt::format("{}-{:05}-of-{:05}.gguf", stem, wanted, count); }

std::optional<SplitName> split_name(std::string_view path) {
  constexpr std::size_t tail = 1 + kDigits + kMiddle.size() + kDigits + kEnd.size();
  if (path.size() < tail || !path.ends_with(kEnd)) return std::nullopt;
  const std::string_view stem = path.substr(0, path.size() - tail);
  const std::string_view rest = path.substr(stem.size());
  const int part = five_digits(rest.substr(1, kDigits));
  const int count = five_digits(rest.substr(1 + kDigits + kMiddle.size(), kDigits));
  if (rest[0] != '-' || rest.substr(1 + kDigits, kMiddle.size()) != kMiddle) return std::nullopt;
  if (part < 1 || count < 1 || part > count) return std::nullopt;
  return SplitName{std::string(stem), part, count};
}

Result<SplitKeys> split_keys(std::string_view path, const Gguf& gguf) {
  SplitKeys out;
  if (gguf.find("split.count") == nullptr) return out;
  auto count = integer_key(path, gguf, "split.count", kMostParts);
  if (!count) return fail(std::move(count.error()));
  if (*count <= 1) return out;
  auto number = integer_key(path, gguf, "split.no", *count - 1);
  if (!number) return fail(std::move(number.error()));
  auto tensors = integer_key(path, gguf, "split.tensors.count", GgufLimits::kTensors);
  if (!tensors) return fail(std::move(tensors.error()));
  return SplitKeys{static_cast<int>(*number) + 1, static_cast<int>(*count), *tensors};
}

}  // namespace plait
