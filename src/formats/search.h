// What the searching encoders share: sums in a fixed order, rounding, and f16 scales. Everything is one IEEE operation
// after the other, so that all machines write the same bytes. The loops over eight lanes are there to be vectorized.
#pragma once

#include <algorithm>
#include <cmath>

#include "formats/block.h"

namespace plait {

inline constexpr float kLargestF16 = 65504;

// To the nearest integer, halves to even. |value| < 2^22.
inline float nearest(float value) { return (value + 0x1.8p23f) - 0x1.8p23f; }

inline float sum_lanes(const float (&lanes)[8]) {
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

template <int kCount>
float sum_of(const float* values) {
  float lanes[8] = {};
  for (int i = 0; i < kCount; i += 8) {
    for (int k = 0; k < 8; ++k) lanes[k] += values[i + k];
  }
  return sum_lanes(lanes);
}

template <int kCount>
float sum_of_products(const float* a, const float* b) {
  float lanes[8] = {};
  for (int i = 0; i < kCount; i += 8) {
    for (int k = 0; k < 8; ++k) lanes[k] += a[i + k] * b[i + k];
  }
  return sum_lanes(lanes);
}

// The sum of (scale * codes[i] - min - values[i])^2.
template <int kCount>
float squared_error(const float* values, const float* codes, float scale, float min) {
  float lanes[8] = {};
  for (int i = 0; i < kCount; i += 8) {
    for (int k = 0; k < 8; ++k) {
      const float difference = scale * codes[i + k] - min - values[i + k];
      lanes[k] += difference * difference;
    }
  }
  return sum_lanes(lanes);
}

// codes[i] = values[i] * inverse + offset, rounded and kept between low and high; what is no number becomes low.
template <int kCount>
void assign_codes(const float* values, float inverse, float offset, float low, float high, float* codes) {
  for (int i = 0; i < kCount; ++i) {
    codes[i] = nearest(std::min(high, std::max(low, values[i] * inverse + offset)));
  }
}

// The f16 nearest to `value`, at most the largest finite one.
inline std::uint16_t f16_scale(float value) { return float_to_f16(std::clamp(value, -kLargestF16, kLargestF16)); }

inline float inverse_or_zero(float value) { return std::fabs(value) > 1e-30f ? 1 / value : 0; }

}  // namespace plait
