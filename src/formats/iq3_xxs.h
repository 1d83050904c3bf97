// IQ3_XXS: 256 values; four at a time are a row of a codebook with signs; a 4-bit scale for each 32.
#pragma once

#include "formats/block.h"
#include "formats/grids.h"

namespace plait {

struct Iq3Xxs {
  static constexpr FormatInfo kInfo{.name = "iq3_xxs", .gguf_type = 18, .block_values = 256, .block_bytes = 98};

  // f16 scale; 64 row numbers; 8 words of four times seven signs (each for two rows) and the scale on top.
  static void group(const std::byte* block, int g, Group& out) {
    const std::uint32_t word = u32_at(block + 66 + 4 * g);
    set_scale(out, f16_at(block) * (0.5f + static_cast<float>(word >> 28)) * 0.5f);
    for (int k = 0; k < 8; ++k) {
      const int signs = even_signs(static_cast<int>(word >> 7 * (k / 2) & 127));
      const auto row = static_cast<std::size_t>(u8_at(block + 2 + 8 * g + k));
      put_signed(kIq3Xxs[row], signs >> 4 * (k % 2), out.values + 4 * k);
    }
  }
};

}  // namespace plait
