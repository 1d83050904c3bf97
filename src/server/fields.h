// Fields: a JSON body read key by key. The first wrong one is remembered and named; all others are then ignored.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/errors.h"

namespace plait {

using Json = nlohmann::ordered_json;

// Checks that the body is a JSON object. Getters return nothing for a key that is absent or null, and where its value
// is of another type or out of range, which error() then says: "temperature is a string, wanted a number from 0 to 2".
class Fields {
 public:
  explicit Fields(std::string_view body);
  explicit Fields(const std::string& body) : Fields(std::string_view(body)) {}  // Text, and no JSON string.
  explicit Fields(Json object, std::string prefix = {});  // Of an object inside: keys are named "options.seed".

  std::optional<std::string> string(std::string_view key);
  std::optional<bool> boolean(std::string_view key);
  std::optional<std::int64_t> integer(std::string_view key, std::int64_t low, std::int64_t high);
  std::optional<double> number(std::string_view key, double low, double high);
  // A string, or an array of at most `most` of them.
  std::vector<std::string> strings(std::string_view key, std::size_t most);
  const Json* array(std::string_view key);
  const Json* object(std::string_view key);
  const Json* any(std::string_view key) const;  // Null: absent or null.

  // Known to the dialect and not done here: an error that says so if the key is there with a value other than null,
  // false, "" or an empty list.
  void refuse(std::initializer_list<std::string_view> keys);
  void refuse(std::string_view key, std::string_view why);  // The same with a reason.
  void require(std::string_view key);
  // Remembers an error, if it is the first. `code` as HttpError has it.
  void fault(std::string_view key, std::string message, std::string_view code = {});

  std::string name(std::string_view key) const { return prefix_ + std::string(key); }  // "options.seed"
  const std::optional<HttpError>& error() const { return error_; }
  const Json& json() const { return json_; }

 private:
  Json json_;
  std::string prefix_;
  std::optional<HttpError> error_;
};

}  // namespace plait
