// IQ2_S: 256 values; eight at a time are a row of a codebook with free signs; a 4-bit scale for each 16.
#pragma once

#include "formats/block.h"
#include "formats/grids.h"

namespace plait {

struct Iq2S {
  static constexpr FormatInfo kInfo{
      .name = "iq2_s", .gguf_type = 22, .block_values = 256, .block_bytes = 82, .scales_per_group = 2};

  // f16 scale; 32 bytes of row numbers; 32 bytes of signs; 8 bytes with the upper two bits of a group's four row
  // numbers; 8 bytes of two scales.
  static void group(const std::byte* block, int g, Group& out) {
    const float scale = f16_at(block);
    const int pair = u8_at(block + 74 + g), high = u8_at(block + 66 + g);
    out.scales[0] = scale * (0.5f + static_cast<float>(pair & 15)) * 0.25f;
    out.scales[1] = scale * (0.5f + static_cast<float>(pair >> 4)) * 0.25f;
    out.mins[0] = out.mins[1] = 0;
    for (int k = 0; k < 4; ++k) {
      const int row = u8_at(block + 2 + 4 * g + k) | (high >> 2 * k & 3) << 8;
      put_signed(kIq2S[static_cast<std::size_t>(row)], u8_at(block + 34 + 4 * g + k), out.values + 8 * k);
    }
  }
};

}  // namespace plait
