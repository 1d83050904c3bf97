// Q8_0: 32 values as one f16 scale and 32 signed bytes.
#pragma once

#include "formats/block.h"
#include "formats/simple_encode.h"

namespace plait {

struct Q8_0 {
  static constexpr FormatInfo kInfo{.name = "q8_0", .gguf_type = 8, .block_values = 32, .block_bytes = 34};

  // f16 scale; 32 signed bytes.
  static void group(const std::byte* block, int /*g*/, Group& out) {
    set_scale(out, f16_at(block));
    for (int i = 0; i < 32; ++i) out.values[i] = to_i8(u8_at(block + 2 + i));
  }

  static void encode(const float* values, std::byte* block) {
    float largest = 0;
    for (int i = 0; i < 32; ++i) largest = std::max(largest, std::fabs(values[i]));
    const float scale = largest / 127;
    const float inverse = scale != 0 ? 1 / scale : 0;
    put_u16(block, float_to_f16(scale));
    for (int i = 0; i < 32; ++i) block[2 + i] = to_byte(round_away(values[i] * inverse));
  }
};

}  // namespace plait
