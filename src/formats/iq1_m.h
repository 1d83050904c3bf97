// IQ1_M: as IQ1_S, with a 3-bit scale for each 16 values and a direction for each eight.
#pragma once

#include "formats/block.h"
#include "formats/grids.h"

namespace plait {

struct Iq1M {
  static constexpr FormatInfo kInfo{
      .name = "iq1_m", .gguf_type = 29, .block_values = 256, .block_bytes = 56, .scales_per_group = 2};

  // 32 bytes of row numbers; 16 bytes of nibbles: the upper three bits of a row number and the direction (1: down);
  // 4 words of four scales, whose top nibbles together are the f16 scale.
  static void group(const std::byte* block, int g, Group& out) {
    int bits = 0;
    for (int k = 0; k < 4; ++k) bits |= u16_at(block + 48 + 2 * k) >> 12 << 4 * k;
    const float scale = f16_to_float(static_cast<std::uint16_t>(bits));
    const int word = u16_at(block + 48 + 2 * (g / 2)) >> 6 * (g % 2);
    out.scales[0] = scale * static_cast<float>(2 * (word & 7) + 1) * 0.125f;
    out.scales[1] = scale * static_cast<float>(2 * (word >> 3 & 7) + 1) * 0.125f;
    out.mins[0] = out.mins[1] = 0;
    for (int k = 0; k < 4; ++k) {
      const int nibble = u8_at(block + 32 + 2 * g + k / 2) >> 4 * (k % 2) & 15;
      const int row = u8_at(block + 4 * g + k) | (nibble & 7) << 8;
      const int shift = (nibble & 8) != 0 ? -1 : 1;
      for (std::size_t i = 0; i < 8; ++i) {
        out.values[8 * static_cast<std::size_t>(k) + i] = to_i8(8 * kIq1S[static_cast<std::size_t>(row)][i] + shift);
      }
    }
  }
};

}  // namespace plait
