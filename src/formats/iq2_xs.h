// IQ2_XS: 256 values; eight at a time are a row of a codebook with signs; a 4-bit scale for each 16, an f16 over all.
#pragma once

#include "formats/block.h"
#include "formats/grids.h"

namespace plait {

struct Iq2Xs {
  static constexpr FormatInfo kInfo{
      .name = "iq2_xs", .gguf_type = 17, .block_values = 256, .block_bytes = 74, .scales_per_group = 2};

  // f16 scale; 32 words of a 9-bit row number with seven signs above; 8 bytes of two scales.
  static void group(const std::byte* block, int g, Group& out) {
    const float scale = f16_at(block);
    const int pair = u8_at(block + 66 + g);
    out.scales[0] = scale * (0.5f + static_cast<float>(pair & 15)) * 0.25f;
    out.scales[1] = scale * (0.5f + static_cast<float>(pair >> 4)) * 0.25f;
    out.mins[0] = out.mins[1] = 0;
    for (int k = 0; k < 4; ++k) {
      const int word = u16_at(block + 2 + 8 * g + 2 * k);
      put_signed(kIq2Xs[static_cast<std::size_t>(word & 511)], even_signs(word >> 9), out.values + 8 * k);
    }
  }
};

}  // namespace plait
