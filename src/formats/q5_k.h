// Q5_K: 256 values as 5-bit codes; a 6-bit scale and min for each 32, over an f16 scale and an f16 min.
#pragma once

#include "formats/k_scales.h"

namespace plait {

struct Q5_K {
  static constexpr FormatInfo kInfo{
      .name = "q5_k", .gguf_type = 13, .block_values = 256, .block_bytes = 176, .has_mins = true};

  // f16 scale; f16 min; 12 bytes of scales and mins; 32 bytes: bit g of byte i is the fifth bit of value i of group g;
  // 4 times 32 bytes of nibbles as in Q4_K.
  static void group(const std::byte* block, int g, Group& out) {
    set_scale(out, f16_at(block) * static_cast<float>(KScales::scale(block + 4, g)),
              f16_at(block + 2) * static_cast<float>(KScales::min(block + 4, g)));
    const std::byte* high = block + 16;
    const std::byte* low = block + 48 + 32 * (g / 2);
    for (int i = 0; i < 32; ++i) {
      out.values[i] = to_i8((u8_at(low + i) >> 4 * (g % 2) & 15) | (u8_at(high + i) >> g & 1) << 4);
    }
  }
};

}  // namespace plait
