// IQ2_XXS: 256 values; eight at a time are a row of a codebook with signs; a 4-bit scale for each 32, an f16 over all.
#pragma once

#include "formats/block.h"
#include "formats/grids.h"

namespace plait {

struct Iq2Xxs {
  static constexpr FormatInfo kInfo{.name = "iq2_xxs", .gguf_type = 16, .block_values = 256, .block_bytes = 66};

  // f16 scale; 8 bytes a group: four row numbers, then a word of four times seven signs and the scale on top.
  static void group(const std::byte* block, int g, Group& out) {
    const std::byte* rows = block + 2 + 8 * g;
    const std::uint32_t word = u32_at(rows + 4);
    set_scale(out, f16_at(block) * (0.5f + static_cast<float>(word >> 28)) * 0.25f);
    for (int k = 0; k < 4; ++k) {
      const auto row = static_cast<std::size_t>(u8_at(rows + k));
      put_signed(kIq2Xxs[row], even_signs(static_cast<int>(word >> 7 * k & 127)), out.values + 8 * k);
    }
  }
};

}  // namespace plait
