// F16: IEEE binary16.
#pragma once

#include "formats/block.h"

namespace plait {

struct F16 {
  static constexpr FormatInfo kInfo{.name = "f16", .gguf_type = 1, .block_bytes = 2, .is_float = true};

  static float value(const std::byte* at) { return f16_at(at); }
  static void encode(const float* value, std::byte* at) { put_u16(at, float_to_f16(*value)); }
};

}  // namespace plait
