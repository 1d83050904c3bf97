// MXFP4: 32 four-bit floats (E2M1) and a power of two.
#pragma once

#include "formats/block.h"
#include "formats/grids.h"

namespace plait {

struct Mxfp4 {
  static constexpr FormatInfo kInfo{.name = "mxfp4", .gguf_type = 39, .block_values = 32, .block_bytes = 17};

  // Exponent byte e; 16 bytes of nibbles as in Q4_0. Codes are doubled, so the scale is half of 2^(e - 127). 255, which
  // the standard calls NaN and no encoder writes, is 2^128 as elsewhere.
  static void group(const std::byte* block, int /*g*/, Group& out) {
    set_scale(out, half_power(u8_at(block)));
    for (int i = 0; i < 16; ++i) {
      const int pair = u8_at(block + 1 + i);
      out.values[i] = kE2m1Doubled[pair & 15];
      out.values[i + 16] = kE2m1Doubled[pair >> 4];
    }
  }

  // 2^(exponent - 128). The first two are denormal.
  static float half_power(int exponent) {
    const auto bits = exponent < 2 ? 0x200000u << exponent : static_cast<std::uint32_t>(exponent - 1) << 23;
    return std::bit_cast<float>(bits);
  }

  // The largest magnitude falls into the last octave of the codes.
  static void encode(const float* values, std::byte* block) {
    float largest = 0;
    for (int i = 0; i < 32; ++i) largest = std::max(largest, std::fabs(values[i]));
    const int exponent = std::max(static_cast<int>(std::bit_cast<std::uint32_t>(largest) >> 23) - 2, 0);
    block[0] = to_byte(exponent);
    const float scale = half_power(exponent);
    for (int i = 0; i < 16; ++i) {
      block[1 + i] = to_byte(nearest_e2m1(values[i], scale) | nearest_e2m1(values[i + 16], scale) << 4);
    }
  }
};

}  // namespace plait
