// IQ4_XS: 256 values as nibbles into the table of IQ4_NL; a 6-bit scale for each 32, over an f16 scale.
#pragma once

#include "formats/block.h"
#include "formats/grids.h"

namespace plait {

struct Iq4Xs {
  static constexpr FormatInfo kInfo{.name = "iq4_xs", .gguf_type = 23, .block_values = 256, .block_bytes = 136};

  // f16 scale; a word with the upper two bits of the eight scales (stored plus 32), 4 bytes with their lower nibbles;
  // 16 bytes of nibbles a group, as in Q4_0.
  static void group(const std::byte* block, int g, Group& out) {
    const int low = u8_at(block + 4 + g / 2) >> 4 * (g % 2) & 15;
    const int high = u16_at(block + 2) >> 2 * g & 3;
    set_scale(out, f16_at(block) * static_cast<float>((low | high << 4) - 32));
    for (int i = 0; i < 16; ++i) {
      const int pair = u8_at(block + 8 + 16 * g + i);
      out.values[i] = kIq4Nl[pair & 15];
      out.values[i + 16] = kIq4Nl[pair >> 4];
    }
  }
};

}  // namespace plait
