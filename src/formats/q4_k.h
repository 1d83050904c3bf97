// Q4_K: 256 values as nibbles; a 6-bit scale and min for each 32, over an f16 scale and an f16 min.
#pragma once

#include "formats/encode_affine.h"
#include "formats/k_scales.h"

namespace plait {

struct Q4_K {
  static constexpr FormatInfo kInfo{
      .name = "q4_k", .gguf_type = 12, .block_values = 256, .block_bytes = 144, .has_mins = true};

  // f16 scale; f16 min; 12 bytes of scales and mins; 4 times 32 bytes: an even group in the low nibbles, the odd one
  // after it in the high ones.
  static void group(const std::byte* block, int g, Group& out) {
    set_scale(out, f16_at(block) * static_cast<float>(KScales::scale(block + 4, g)),
              f16_at(block + 2) * static_cast<float>(KScales::min(block + 4, g)));
    const std::byte* codes = block + 16 + 32 * (g / 2);
    for (int i = 0; i < 32; ++i) out.values[i] = to_i8(u8_at(codes + i) >> 4 * (g % 2) & 15);
  }

  static void encode(const float* values, std::byte* block) {
    const AffineBlock<32> found = encode_affine<32>(values, 15, 63);
    put_u16(block, found.scale);
    put_u16(block + 2, found.min);
    KScales::pack(found.scale_codes, found.min_codes, block + 4);
    for (int i = 0; i < 128; ++i) {
      const float* pair = found.codes + i / 32 * 64 + i % 32;
      block[16 + i] = to_byte(static_cast<int>(pair[0]) | static_cast<int>(pair[32]) << 4);
    }
  }
};

}  // namespace plait
