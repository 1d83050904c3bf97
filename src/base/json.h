// parse_json(): the one way JSON text from outside becomes data. Nesting is limited, nothing is thrown.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "plait/result.h"

namespace plait {

constexpr int kMaxJsonDepth = 64;

// Objects keep the order of their keys; of a repeated key the last value counts. `what` names the text in messages.
Result<nlohmann::ordered_json> parse_json(std::string_view text, std::string_view what = "JSON");

}  // namespace plait
