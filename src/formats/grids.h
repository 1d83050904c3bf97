// The codebooks of the IQ formats, and the two tables of four-bit codes.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "formats/format.h"

namespace plait {

template <std::size_t kRows, std::size_t kWidth>
using Grid = std::array<std::array<std::int8_t, kWidth>, kRows>;

extern const Grid<256, 8> kIq2Xxs;
extern const Grid<512, 8> kIq2Xs;
extern const Grid<1024, 8> kIq2S;
extern const Grid<256, 4> kIq3Xxs;
extern const Grid<512, 4> kIq3S;
extern const Grid<2048, 8> kIq1S;

// Four-bit codes of IQ4_NL and IQ4_XS.
inline constexpr std::int8_t kIq4Nl[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

// Twice the values of four-bit floats (E2M1). Code 8 is minus zero.
inline constexpr std::int8_t kE2m1Doubled[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

// The code whose value times scale is nearest to `value`; the lowest code on ties.
inline int nearest_e2m1(float value, float scale) {
  int best = 0;
  for (int code = 1; code < 16; ++code) {
    const float error = std::fabs(static_cast<float>(kE2m1Doubled[code]) * scale - value);
    if (error < std::fabs(static_cast<float>(kE2m1Doubled[best]) * scale - value)) best = code;
  }
  return best;
}

// The signs of eight values from seven bits: the eighth makes their number even.
constexpr int even_signs(int seven_bits) {
  int parity = seven_bits;
  parity ^= parity >> 4;
  parity ^= parity >> 2;
  parity ^= parity >> 1;
  return seven_bits | (parity & 1) << 7;
}

// out[i] = row[i], negated where bit i of `signs` is set.
template <std::size_t kWidth>
void put_signed(const std::array<std::int8_t, kWidth>& row, int signs, std::int8_t* out) {
  for (std::size_t i = 0; i < kWidth; ++i) {
    out[i] = static_cast<std::int8_t>((signs >> i & 1) != 0 ? -row[i] : row[i]);
  }
}

}  // namespace plait
