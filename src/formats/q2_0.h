// Q2_0: 64 values of -1 to 2 as 2-bit codes, each stored plus one, and one f16 scale.
#pragma once

#include "formats/block.h"
#include "formats/simple_encode.h"

namespace plait {

struct Q2_0 {
  static constexpr FormatInfo kInfo{.name = "q2_0", .gguf_type = 42, .block_values = 64, .block_bytes = 18};

  // f16 scale; 16 bytes: value i in bits 2 (i % 4) of byte i / 4.
  static void group(const std::byte* block, int g, Group& out) {
    set_scale(out, f16_at(block));
    for (int i = 0; i < 32; ++i) out.values[i] = to_i8((u8_at(block + 2 + 8 * g + i / 4) >> 2 * (i % 4) & 3) - 1);
  }

  static void encode(const float* values, std::byte* block) {
    int codes[64];
    put_u16(block, float_to_f16(encode_ternary(values, 64, codes)));
    for (int i = 0; i < 16; ++i) {
      const int* four = codes + 4 * i;
      block[2 + i] = to_byte((four[0] + 1) | (four[1] + 1) << 2 | (four[2] + 1) << 4 | (four[3] + 1) << 6);
    }
  }
};

}  // namespace plait
