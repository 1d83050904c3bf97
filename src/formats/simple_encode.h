// Encoding 32 values by their extremes, without a search: what Q4_0 to Q8_0 share. The bytes are those that other
// writers of these formats make. Values and their differences are finite.
#pragma once

#include <algorithm>
#include <cmath>

#include "formats/block.h"

namespace plait {

// To the nearest integer, halves away from zero. |value| is far below 2^31.
inline int round_away(float value) {
  const int whole = static_cast<int>(value);
  const float rest = value - static_cast<float>(whole);  // Exact.
  return whole + (rest >= 0.5f) - (rest <= -0.5f);
}

// 1 / scale; zero where that could overflow, which is far below what an f16 scale can hold.
inline float finite_inverse(float scale) { return std::fabs(scale) >= 0x1p-126f ? 1 / scale : 0; }

// Codes of 0 to levels - 1, stored plus half the levels; the value of largest magnitude becomes the lowest code, so the
// scale may be negative. Returns the scale.
inline float encode_signed(const float* values, int levels, int* codes) {
  float extreme = 0;
  for (int i = 0; i < 32; ++i) {
    if (std::fabs(values[i]) > std::fabs(extreme)) extreme = values[i];
  }
  const float half = static_cast<float>(levels / 2);
  const float scale = extreme / -half;
  const float inverse = finite_inverse(scale);
  for (int i = 0; i < 32; ++i) {
    codes[i] = std::min(levels - 1, static_cast<int>(values[i] * inverse + (half + 0.5f)));
  }
  return scale;
}

struct Line {
  float scale, offset;  // A value is scale * code + offset.
};

// Codes of 0 to levels - 1 from the smallest value to the largest.
inline Line encode_line(const float* values, int levels, int* codes) {
  const auto [low, high] = std::minmax_element(values, values + 32);
  const float scale = (*high - *low) / static_cast<float>(levels - 1);
  const float inverse = finite_inverse(scale);
  for (int i = 0; i < 32; ++i) {
    codes[i] = std::min(levels - 1, static_cast<int>((values[i] - *low) * inverse + 0.5f));
  }
  return {scale, *low};
}

// Codes of -1, 0 and 1, where the largest magnitude is one. Returns the scale.
inline float encode_ternary(const float* values, int count, int* codes) {
  float largest = 0;
  for (int i = 0; i < count; ++i) largest = std::max(largest, std::fabs(values[i]));
  const float inverse = finite_inverse(largest);
  for (int i = 0; i < count; ++i) codes[i] = round_away(values[i] * inverse);
  return largest;
}

// 4 bytes with the fifth bit of code i in bit i; 16 bytes: codes 0 to 15 in the low nibbles, 16 to 31 in the high ones.
inline void pack_five_bits(const int* codes, std::byte* out) {
  for (int byte = 0; byte < 4; ++byte) {
    int high = 0;
    for (int bit = 0; bit < 8; ++bit) high |= (codes[byte * 8 + bit] >> 4 & 1) << bit;
    out[byte] = to_byte(high);
  }
  for (int i = 0; i < 16; ++i) out[4 + i] = to_byte((codes[i] & 15) | (codes[i + 16] & 15) << 4);
}

}  // namespace plait
