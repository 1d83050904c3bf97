// Prompts that are texts or token ids.
#include "server/prompts.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace plait {
namespace {

bool is_id(const Json& value) { return value.is_number(); }

bool set_ids(Request& request, const Json& ids) {
  request.tokens.reserve(ids.size());
  for (const Json& id : ids) {
    if (!id.is_number_integer()) return false;
    const double number = id.get<double>();
    if (number < 0 || number > std::numeric_limits<Token>::max()) return false;
    request.tokens.push_back(id.get<Token>());
  }
  return !ids.empty();
}

bool set_prompt(Request& request, const Json& prompt) {
  if (prompt.is_array()) return set_ids(request, prompt);
  if (!prompt.is_string()) return false;
  request.text = prompt.get<std::string>();
  return true;
}

}  // namespace

std::vector<Request> read_prompts(Fields& fields, std::string_view key, std::size_t most) {
  fields.require(key);
  const Json* value = fields.any(key);
  if (value == nullptr) return {};
  const bool is_list = value->is_array() && (value->empty() || !is_id(value->front()));
  const std::size_t count = is_list ? value->size() : 1;
  if (count == 0 || count > most) {
    fields.fault(key, fmt::format("{} has {} entries, wanted 1 to {}", key, count, most));
    return {};
  }
  std::vector<Request> requests(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (set_prompt(requests[i], is_list ? (*value)[i] : *value)) continue;
    const std::string name = is_list ? fmt::format("{}[{}]", key, i) : std::string(key);
    fields.fault(key, fmt::format("{} is neither a text nor a list of token ids", name));
    return {};
  }
  return requests;
}

}  // namespace plait
