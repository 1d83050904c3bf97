// Q6_K: 256 values as 6-bit codes, each stored plus 32; a signed 8-bit scale for each 16, over an f16 scale.
#pragma once

#include "formats/block.h"
#include "formats/encode_symmetric.h"

namespace plait {

struct Q6_K {
  static constexpr FormatInfo kInfo{
      .name = "q6_k", .gguf_type = 14, .block_values = 256, .block_bytes = 210, .scales_per_group = 2};

  // 128 bytes of low nibbles, 64 bytes of high pairs, 16 signed scales, f16 scale. In each half of the block (four
  // groups) nibbles lie in 64 bytes, groups 0 and 1 low, 2 and 3 high; pairs in 32 bytes, group g at bits 2 (g % 4).
  static void group(const std::byte* block, int g, Group& out) {
    const float scale = f16_at(block + 208);
    out.mins[0] = out.mins[1] = 0;
    for (int h = 0; h < 2; ++h) out.scales[h] = scale * static_cast<float>(to_i8(u8_at(block + 192 + 2 * g + h)));
    const int half = g / 4, quarter = g % 4;
    const std::byte* low = block + 64 * half + 32 * (quarter % 2);
    const std::byte* high = block + 128 + 32 * half;
    for (int i = 0; i < 32; ++i) {
      const int code = (u8_at(low + i) >> 4 * (quarter / 2) & 15) | (u8_at(high + i) >> 2 * quarter & 3) << 4;
      out.values[i] = to_i8(code - 32);
    }
  }

  static void encode(const float* values, std::byte* block) {
    const SymmetricBlock found = encode_symmetric(values, {-32, 31, -128, 127});
    std::fill_n(block, kInfo.block_bytes, std::byte{0});
    for (int i = 0; i < 256; ++i) {
      const int code = static_cast<int>(found.codes[i]) + 32, half = i / 128, quarter = i / 32 % 4;
      block[64 * half + 32 * (quarter % 2) + i % 32] |= to_byte((code & 15) << 4 * (quarter / 2));
      block[128 + 32 * half + i % 32] |= to_byte((code >> 4) << 2 * quarter);
    }
    for (int k = 0; k < 16; ++k) block[192 + k] = to_byte(found.scale_codes[k]);
    put_u16(block + 208, found.scale);
  }
};

}  // namespace plait
