// JSON text as values of the template language.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "text/jinja/machine.h"

namespace plait::jinja {

// Not from_json: the library would look at that as at its own.
Value value_from_json(Machine& machine, const nlohmann::ordered_json& json);
Value from_json_text(Machine& machine, std::string_view text);  // Fails the machine on bad JSON.

}  // namespace plait::jinja
