// NVFP4: 64 four-bit floats (E2M1), with an eight-bit float as the scale of each 16.
#pragma once

#include "formats/block.h"
#include "formats/grids.h"

namespace plait {

struct Nvfp4 {
  static constexpr FormatInfo kInfo{
      .name = "nvfp4", .gguf_type = 40, .block_values = 64, .block_bytes = 36, .scales_per_group = 2};

  // Four scales; 8 bytes for each 16 values, the first eight in the low nibbles.
  static void group(const std::byte* block, int g, Group& out) {
    out.mins[0] = out.mins[1] = 0;
    for (int h = 0; h < 2; ++h) {
      const int part = 2 * g + h;
      out.scales[h] = half_scale(u8_at(block + part));
      for (int i = 0; i < 8; ++i) {
        const int pair = u8_at(block + 4 + 8 * part + i);
        out.values[16 * h + i] = kE2m1Doubled[pair & 15];
        out.values[16 * h + 8 + i] = kE2m1Doubled[pair >> 4];
      }
    }
  }

  // Half the value of an unsigned E4M3 number, since codes are doubled. 127 (NaN in the standard) counts as 0, the top
  // bit (a sign) as absent in all others: no encoder writes either.
  static float half_scale(int byte) {
    if (byte == 0x7f) return 0;
    const int exponent = byte >> 3 & 15, mantissa = byte & 7;
    if (exponent == 0) return static_cast<float>(mantissa) * 0x1p-10f;
    const auto power = static_cast<std::uint32_t>(exponent - 8 - 3 + 127) << 23;  // Half, and eighths.
    return static_cast<float>(8 + mantissa) * std::bit_cast<float>(power);
  }

  static void encode(const float* values, std::byte* block) {
    for (int part = 0; part < 4; ++part) {
      const float* x = values + 16 * part;
      float largest = 0;
      for (int i = 0; i < 16; ++i) largest = std::max(largest, std::fabs(x[i]));
      const int byte = nearest_scale(largest / 6);
      block[part] = to_byte(byte);
      const float scale = half_scale(byte);
      for (int i = 0; i < 8; ++i) {
        block[4 + 8 * part + i] = to_byte(nearest_e2m1(x[i], scale) | nearest_e2m1(x[i + 8], scale) << 4);
      }
    }
  }

  // The byte of the E4M3 number nearest to value >= 0, the upper one of two; from 256 on the largest, as other writers
  // of this format have it.
  static int nearest_scale(float value) {
    constexpr int kHighest = 0x7e;
    if (!(value < 256)) return kHighest;
    if (value < 0x1p-6f) return std::min(static_cast<int>(value * 512 + 0.5f), 7);
    const std::uint32_t rounded = std::bit_cast<std::uint32_t>(value) + 0x80000u;
    return static_cast<int>(rounded >> 20) - ((127 - 7) << 3);
  }
};

}  // namespace plait
