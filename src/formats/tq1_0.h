// TQ1_0: 256 values of -1, 0 or 1, five in a byte, and one f16 scale.
#pragma once

#include "formats/block.h"
#include "formats/simple_encode.h"

namespace plait {

struct Tq1_0 {
  static constexpr FormatInfo kInfo{.name = "tq1_0", .gguf_type = 34, .block_values = 256, .block_bytes = 54};

  // A byte is five base-3 digits as the fraction digits/243 of 256, so that multiplying by 3^n (modulo 256) and then by
  // 3 brings digit n out on top. 32 bytes hold values 0 to 159 (digit n of byte i is value 32 n + i), 16 bytes the next
  // 80 (16 n + i), 4 bytes of four digits the last 16 (4 n + i); f16 scale.
  static void group(const std::byte* block, int g, Group& out) {
    set_scale(out, f16_at(block + 52));
    for (int i = 0; i < 32; ++i) {
      const Place place = find(32 * g + i);
      out.values[i] = to_i8(digit(u8_at(block + place.byte), place.digit) - 1);
    }
  }

  struct Place {
    int byte, digit;
  };

  static Place find(int value) {
    if (value < 160) return {value % 32, value / 32};
    if (value < 240) return {32 + value % 16, (value - 160) / 16};
    return {48 + value % 4, (value - 240) / 4};
  }

  static int digit(int byte, int n) {
    constexpr int kPowers[] = {1, 3, 9, 27, 81};
    return (byte * kPowers[n] & 255) * 3 >> 8;
  }

  static void encode(const float* values, std::byte* block) {
    int codes[256];
    int digits[52] = {};
    put_u16(block + 52, float_to_f16(encode_ternary(values, 256, codes)));
    for (int i = 0; i < 256; ++i) {
      constexpr int kWeights[] = {81, 27, 9, 3, 1};  // Four-digit bytes leave the last place empty.
      const Place place = find(i);
      digits[place.byte] += (codes[i] + 1) * kWeights[place.digit];
    }
    for (int i = 0; i < 52; ++i) block[i] = to_byte((digits[i] * 256 + 242) / 243);
  }
};

}  // namespace plait
