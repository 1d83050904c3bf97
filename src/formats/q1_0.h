// Q1_0: 128 values as signs and one f16 scale.
#pragma once

#include "formats/block.h"
#include "formats/simple_encode.h"

namespace plait {

struct Q1_0 {
  static constexpr FormatInfo kInfo{.name = "q1_0", .gguf_type = 41, .block_values = 128, .block_bytes = 18};

  // f16 scale; 16 bytes: bit i % 8 of byte i / 8 is 1 for plus, 0 for minus.
  static void group(const std::byte* block, int g, Group& out) {
    set_scale(out, f16_at(block));
    const std::uint32_t signs = u32_at(block + 2 + 4 * g);
    for (int i = 0; i < 32; ++i) out.values[i] = to_i8(2 * static_cast<int>(signs >> i & 1) - 1);
  }

  // The scale is the mean magnitude.
  static void encode(const float* values, std::byte* block) {
    float sum = 0;
    for (int i = 0; i < 128; ++i) sum += std::fabs(values[i]);
    put_u16(block, float_to_f16(sum / 128));
    for (int i = 0; i < 16; ++i) {
      int byte = 0;
      for (int bit = 0; bit < 8; ++bit) byte |= (values[8 * i + bit] >= 0) << bit;
      block[2 + i] = to_byte(byte);
    }
  }
};

}  // namespace plait
