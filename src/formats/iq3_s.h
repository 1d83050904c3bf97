// IQ3_S: 256 values; four at a time are a row of a codebook with free signs; a 4-bit scale for each 32.
#pragma once

#include "formats/block.h"
#include "formats/grids.h"

namespace plait {

struct Iq3S {
  static constexpr FormatInfo kInfo{.name = "iq3_s", .gguf_type = 21, .block_values = 256, .block_bytes = 110};

  // f16 scale; 64 bytes of row numbers; 8 bytes with the ninth bit of a group's eight row numbers; 32 bytes of signs;
  // 4 bytes of two scales.
  static void group(const std::byte* block, int g, Group& out) {
    const int code = u8_at(block + 106 + g / 2) >> 4 * (g % 2) & 15;
    set_scale(out, f16_at(block) * static_cast<float>(1 + 2 * code));
    const int high = u8_at(block + 66 + g);
    for (int k = 0; k < 8; ++k) {
      const int row = u8_at(block + 2 + 8 * g + k) | (high >> k & 1) << 8;
      const int signs = u8_at(block + 74 + 4 * g + k / 2) >> 4 * (k % 2);
      put_signed(kIq3S[static_cast<std::size_t>(row)], signs, out.values + 4 * k);
    }
  }
};

}  // namespace plait
