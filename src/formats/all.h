// The list of weight formats.
#pragma once

#include <span>
#include <string_view>

#include "formats/format.h"

namespace plait {

std::span<const Format> all_formats();

// Null if no format has that GGUF type id, or that name.
const Format* find_format(int gguf_type);
const Format* find_format(std::string_view name);

// The name of a GGUF type id that plait knows of but does not read ("q8_1", "retired q4_2", ...), else empty.
std::string_view unsupported_format_name(int gguf_type);

}  // namespace plait
