// IQ1_S: 256 values of -1, 0 or 1, moved by an eighth up or down; eight at a time are a row of a codebook; a 3-bit
// scale and the direction for each 32.
#pragma once

#include "formats/block.h"
#include "formats/grids.h"

namespace plait {

struct Iq1S {
  static constexpr FormatInfo kInfo{.name = "iq1_s", .gguf_type = 19, .block_values = 256, .block_bytes = 50};

  // f16 scale; 32 bytes of row numbers; 8 words: the upper three bits of a group's four row numbers, the scale, and on
  // top the direction (1: down).
  static void group(const std::byte* block, int g, Group& out) {
    const int word = u16_at(block + 34 + 2 * g);
    set_scale(out, f16_at(block) * static_cast<float>(2 * (word >> 12 & 7) + 1) * 0.125f);
    const int shift = (word & 0x8000) != 0 ? -1 : 1;
    for (int k = 0; k < 4; ++k) {
      const int row = u8_at(block + 2 + 4 * g + k) | (word >> 3 * k & 7) << 8;
      for (std::size_t i = 0; i < 8; ++i) {
        out.values[8 * static_cast<std::size_t>(k) + i] = to_i8(8 * kIq1S[static_cast<std::size_t>(row)][i] + shift);
      }
    }
  }
};

}  // namespace plait
