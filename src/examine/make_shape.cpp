// From JSON to metadata. Which keys an architecture needs, and what they may be, its own function checks.
#include "examine/make_shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string_view>

#include "base/json.h"
#include "base/text.h"

namespace plait {
namespace {

using json = nlohmann::ordered_json;

constexpr std::uintmax_t kMostFileBytes = 1 << 20;
constexpr std::int64_t kMostVocabulary = 1 << 22;

// Readers want a float under these names, also where the number is whole.
bool is_real_key(std::string_view key) {
  for (const std::string_view end : {"epsilon", "freq_base", "freq_base_swa", "factor", "scale", "softcapping"}) {
    if (key.ends_with(end)) return true;
  }
  return false;
}

bool all_of_type(const json& list, bool (*is)(const json&)) { return std::all_of(list.begin(), list.end(), is); }

// Nothing where there is no such kind of value, or a whole number beyond 32 bits.
bool convert(std::string_view key, const json& value, GgufValue& out) {
  const auto is_i32 = [](const json& v) {
    return v.is_number_integer() && v >= std::numeric_limits<std::int32_t>::min() &&
           v <= std::numeric_limits<std::int32_t>::max();
  };
  const auto is_real = [](const json& v) { return v.is_number(); };
  if (value.is_boolean()) {
    out = value.get<bool>();
  } else if (value.is_string()) {
    out = value.get<std::string>();
  } else if (value.is_number_float() || (value.is_number() && is_real_key(key))) {
    out = value.get<float>();
  } else if (is_i32(value) && value >= 0) {
    out = value.get<std::uint32_t>();
  } else if (is_i32(value)) {
    out = value.get<std::int32_t>();
  } else if (!value.is_array() || value.empty()) {
    return false;
  } else if (all_of_type(value, [](const json& v) { return v.is_boolean(); })) {
    out = value.get<std::vector<bool>>();
  } else if (all_of_type(value, is_i32) && !is_real_key(key)) {
    out = value.get<std::vector<std::int32_t>>();
  } else if (all_of_type(value, is_real)) {
    out = value.get<std::vector<float>>();
  } else if (all_of_type(value, [](const json& v) { return v.is_string(); })) {
    out = value.get<std::vector<std::string>>();
  } else {
    return false;
  }
  return true;
}

Result<std::string> read_shape_file(const Architecture& architecture, const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) {
    std::vector<std::string_view> known;
    for (const Shape& shape : architecture.shapes) known.push_back(shape.name);
    return fail(ErrorCode::kNotFound, fmt::format("shape '{}' is neither one of {} ({}) nor a file that can be read",
                                                  printable(path), architecture.name, fmt::join(known, ", ")));
  }
  if (size > kMostFileBytes) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("{}: has {} bytes, wanted a shape of at most {}", printable(path), size, kMostFileBytes));
  }
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) return fail(ErrorCode::kIo, fmt::format("{}: cannot be read", printable(path)));
  return text;
}

}  // namespace

Result<MakeShape> read_shape(const Architecture& architecture, const std::string& shape) {
  std::string text;
  const auto known = std::find_if(architecture.shapes.begin(), architecture.shapes.end(),
                                  [&](const Shape& entry) { return entry.name == shape; });
  if (known != architecture.shapes.end()) {
    text = known->json;
  } else {
    Result<std::string> file = read_shape_file(architecture, shape);
    if (!file) return fail(file.error());
    text = *std::move(file);
  }
  Result<json> object = parse_json(text, fmt::format("shape {}", printable(shape)));
  if (!object) return fail(object.error());
  if (!object->is_object()) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("shape {}: is not an object with the keys of a model's metadata", printable(shape)));
  }
  MakeShape out;
  for (const auto& [key, value] : object->items()) {
    if (key == "tied" && value.is_boolean()) {
      out.tied = value.get<bool>();
      continue;
    }
    GgufEntry entry{fmt::format("{}.{}", architecture.name, key), {}};
    if (key == "tied" || !convert(key, value, entry.value)) {
      return fail(ErrorCode::kCorrupt, fmt::format("shape {}: key {} has a value that metadata cannot hold",
                                                   printable(shape), printable(key)));
    }
    out.metadata.push_back(std::move(entry));
  }
  const auto size = object->find("vocab_size");
  if (size == object->end() || !size->is_number_integer() || *size < 1 || *size > kMostVocabulary) {
    return fail(ErrorCode::kCorrupt, fmt::format("shape {}: vocab_size is missing or not a whole number from 1 to {}",
                                                 printable(shape), kMostVocabulary));
  }
  out.vocabulary = size->get<int>();
  return out;
}

}  // namespace plait
