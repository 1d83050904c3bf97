// Fields: typed reading of a JSON object.
#include "server/fields.h"

#include <fmt/format.h>

#include <cmath>

#include "base/json.h"

namespace plait {
namespace {

std::string_view name_of_type(const Json& value) {
  if (value.is_string()) return "a string";
  if (value.is_boolean()) return "a boolean";
  if (value.is_number()) return "a number";
  if (value.is_array()) return "an array";
  if (value.is_object()) return "an object";
  return "null";
}

// More is refused before it is read: a value takes many times its text in memory, and a member of an object is
// compared with all before it.
constexpr std::size_t kMostValues = 1 << 18, kMostComparisons = 1 << 25;

bool is_burden(std::string_view body) {
  std::size_t values = 0, comparisons = 0;
  std::vector<std::size_t> members;  // Of the arrays and objects that are open.
  bool quoted = false;
  for (std::size_t i = 0; i < body.size(); ++i) {
    const char c = body[i];
    if (c == '"') quoted = !quoted;
    if (quoted) {
      i += c == '\\' ? 1 : 0;
      continue;
    }
    if (c == '[' || c == '{') members.push_back(0);
    if ((c == ']' || c == '}') && !members.empty()) members.pop_back();
    if (c == ':' && !members.empty()) comparisons += members.back()++;
    values += c == ',' || c == ':' || c == '[' || c == '{' ? 1 : 0;
    if (values > kMostValues || comparisons > kMostComparisons || members.size() > kMaxJsonDepth) break;
  }
  return values > kMostValues || comparisons > kMostComparisons;
}

bool says_nothing(const Json& value) {
  return value.is_null() || value == false || (value.is_string() && value.get_ref<const std::string&>().empty()) ||
         ((value.is_array() || value.is_object()) && value.empty());
}

}  // namespace

Fields::Fields(std::string_view body) : json_(Json::object()) {
  if (body.empty()) {
    fault("", "the body is empty, wanted a JSON object");
    return;
  }
  if (is_burden(body)) {
    fault("", fmt::format("the body has too many values, wanted at most {}", kMostValues));
    return;
  }
  Result<Json> parsed = parse_json(body, "the body");
  if (!parsed) {
    fault("", parsed.error().message);
  } else if (!parsed->is_object()) {
    fault("", fmt::format("the body is {}, wanted an object", name_of_type(*parsed)));
  } else {
    json_ = std::move(*parsed);
  }
}

Fields::Fields(Json object, std::string prefix) : json_(std::move(object)), prefix_(std::move(prefix)) {}

void Fields::fault(std::string_view key, std::string message, std::string_view code) {
  if (error_) return;
  error_ = HttpError{400, std::move(message), key.empty() ? std::string() : prefix_ + std::string(key), code};
}

const Json* Fields::any(std::string_view key) const {
  const auto found = json_.find(key);
  return found == json_.end() || found->is_null() ? nullptr : &*found;
}

std::optional<std::string> Fields::string(std::string_view key) {
  const Json* value = any(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return value->get<std::string>();
  fault(key, fmt::format("{}{} is {}, wanted a string", prefix_, key, name_of_type(*value)));
  return std::nullopt;
}

std::optional<bool> Fields::boolean(std::string_view key) {
  const Json* value = any(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_boolean()) return value->get<bool>();
  fault(key, fmt::format("{}{} is {}, wanted a boolean", prefix_, key, name_of_type(*value)));
  return std::nullopt;
}

std::optional<double> Fields::number(std::string_view key, double low, double high) {
  const Json* value = any(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) {
    fault(key, fmt::format("{}{} is {}, wanted a number from {} to {}", prefix_, key, name_of_type(*value), low, high));
    return std::nullopt;
  }
  const double number = value->get<double>();
  if (number >= low && number <= high) return number;
  fault(key, fmt::format("{}{} is {}, wanted a number from {} to {}", prefix_, key, number, low, high));
  return std::nullopt;
}

std::optional<std::int64_t> Fields::integer(std::string_view key, std::int64_t low, std::int64_t high) {
  const Json* value = any(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) {
    fault(key,
          fmt::format("{}{} is {}, wanted an integer from {} to {}", prefix_, key, name_of_type(*value), low, high));
    return std::nullopt;
  }
  // 40.0 is an integer too; doubles hold those that matter, beyond 2^53 only JSON's own integers are exact.
  const double number = value->get<double>();
  if (number >= static_cast<double>(low) && number <= static_cast<double>(high) && number == std::floor(number)) {
    if (value->is_number_unsigned() && value->get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX))
      return static_cast<std::int64_t>(value->get<std::uint64_t>());
    if (value->is_number_integer() && !value->is_number_unsigned()) return value->get<std::int64_t>();
    if (std::fabs(number) < 0x1p62) return static_cast<std::int64_t>(number);
  }
  fault(key, fmt::format("{}{} is {}, wanted an integer from {} to {}", prefix_, key, value->dump(), low, high));
  return std::nullopt;
}

std::vector<std::string> Fields::strings(std::string_view key, std::size_t most) {
  const Json* value = any(key);
  if (value == nullptr) return {};
  if (value->is_string()) return {value->get<std::string>()};
  if (!value->is_array()) {
    fault(key, fmt::format("{}{} is {}, wanted a string or an array of strings", prefix_, key, name_of_type(*value)));
    return {};
  }
  if (value->size() > most) {
    fault(key, fmt::format("{}{} has {} entries, wanted at most {}", prefix_, key, value->size(), most));
    return {};
  }
  std::vector<std::string> strings;
  for (const Json& entry : *value) {
    if (!entry.is_string()) {
      fault(key, fmt::format("{}{}[{}] is {}, wanted a string", prefix_, key, strings.size(), name_of_type(entry)));
      return {};
    }
    strings.push_back(entry.get<std::string>());
  }
  return strings;
}

const Json* Fields::array(std::string_view key) {
  const Json* value = any(key);
  if (value == nullptr || value->is_array()) return value;
  fault(key, fmt::format("{}{} is {}, wanted an array", prefix_, key, name_of_type(*value)));
  return nullptr;
}

const Json* Fields::object(std::string_view key) {
  const Json* value = any(key);
  if (value == nullptr || value->is_object()) return value;
  fault(key, fmt::format("{}{} is {}, wanted an object", prefix_, key, name_of_type(*value)));
  return nullptr;
}

void Fields::refuse(std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) refuse(key, "which is not supported");
}

void Fields::refuse(std::string_view key, std::string_view why) {
  const Json* value = any(key);
  if (value != nullptr && !says_nothing(*value)) fault(key, fmt::format("the request has {}{}, {}", prefix_, key, why));
}

void Fields::require(std::string_view key) {
  if (any(key) == nullptr) fault(key, fmt::format("{}{} is missing", prefix_, key));
}

}  // namespace plait
