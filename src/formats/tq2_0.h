// TQ2_0: 256 values of -1, 0 or 1 as 2-bit codes, and one f16 scale.
#pragma once

#include "formats/block.h"
#include "formats/simple_encode.h"

namespace plait {

struct Tq2_0 {
  static constexpr FormatInfo kInfo{.name = "tq2_0", .gguf_type = 35, .block_values = 256, .block_bytes = 66};

  // Two halves of 32 bytes, in which group g has bits 2 (g % 4), stored plus one; f16 scale. Code 3, which no encoder
  // writes, is 2.
  static void group(const std::byte* block, int g, Group& out) {
    set_scale(out, f16_at(block + 64));
    const std::byte* codes = block + 32 * (g / 4);
    for (int i = 0; i < 32; ++i) out.values[i] = to_i8((u8_at(codes + i) >> 2 * (g % 4) & 3) - 1);
  }

  static void encode(const float* values, std::byte* block) {
    int codes[256];
    put_u16(block + 64, float_to_f16(encode_ternary(values, 256, codes)));
    for (int i = 0; i < 64; ++i) {
      int byte = 0;
      for (int g = 0; g < 4; ++g) byte |= (codes[i / 32 * 128 + 32 * g + i % 32] + 1) << 2 * g;
      block[i] = to_byte(byte);
    }
  }
};

}  // namespace plait
