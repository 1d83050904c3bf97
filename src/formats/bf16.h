// BF16: the upper half of an f32.
#pragma once

#include "formats/block.h"

namespace plait {

struct Bf16 {
  static constexpr FormatInfo kInfo{.name = "bf16", .gguf_type = 30, .block_bytes = 2, .is_float = true};

  static float value(const std::byte* at) { return bf16_to_float(u16_at(at)); }
  static void encode(const float* value, std::byte* at) { put_u16(at, float_to_bf16(*value)); }
};

}  // namespace plait
