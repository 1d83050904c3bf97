// Q4_1: 32 values as an f16 scale, an f16 offset and 32 nibbles.
#pragma once

#include "formats/block.h"
#include "formats/simple_encode.h"

namespace plait {

struct Q4_1 {
  static constexpr FormatInfo kInfo{
      .name = "q4_1", .gguf_type = 3, .block_values = 32, .block_bytes = 20, .has_mins = true};

  // f16 scale; f16 offset, which is added and so the min negated; 16 bytes of nibbles as in Q4_0.
  static void group(const std::byte* block, int /*g*/, Group& out) {
    set_scale(out, f16_at(block), -f16_at(block + 2));
    for (int i = 0; i < 16; ++i) {
      const int pair = u8_at(block + 4 + i);
      out.values[i] = to_i8(pair & 15);
      out.values[i + 16] = to_i8(pair >> 4);
    }
  }

  static void encode(const float* values, std::byte* block) {
    int codes[32];
    const Line line = encode_line(values, 16, codes);
    put_u16(block, float_to_f16(line.scale));
    put_u16(block + 2, float_to_f16(line.offset));
    for (int i = 0; i < 16; ++i) block[4 + i] = to_byte(codes[i] | codes[i + 16] << 4);
  }
};

}  // namespace plait
