// Q5_1: 32 values as an f16 scale, an f16 offset and 32 five-bit codes.
#pragma once

#include "formats/block.h"
#include "formats/simple_encode.h"

namespace plait {

struct Q5_1 {
  static constexpr FormatInfo kInfo{
      .name = "q5_1", .gguf_type = 7, .block_values = 32, .block_bytes = 24, .has_mins = true};

  // f16 scale; f16 offset, which is added and so the min negated; then as in Q5_0.
  static void group(const std::byte* block, int /*g*/, Group& out) {
    set_scale(out, f16_at(block), -f16_at(block + 2));
    const std::uint32_t high = u32_at(block + 4);
    for (int i = 0; i < 16; ++i) {
      const int pair = u8_at(block + 8 + i);
      out.values[i] = to_i8((pair & 15) | static_cast<int>(high >> i & 1) << 4);
      out.values[i + 16] = to_i8((pair >> 4) | static_cast<int>(high >> (i + 16) & 1) << 4);
    }
  }

  static void encode(const float* values, std::byte* block) {
    int codes[32];
    const Line line = encode_line(values, 32, codes);
    put_u16(block, float_to_f16(line.scale));
    put_u16(block + 2, float_to_f16(line.offset));
    pack_five_bits(codes, block + 4);
  }
};

}  // namespace plait
