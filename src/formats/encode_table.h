// The search behind IQ4_NL and IQ4_XS: nibbles that index the table kIq4Nl, with one scale for 32 values. Minimizes the
// squared error.
#pragma once

#include <array>

#include "formats/grids.h"
#include "formats/search.h"

namespace plait {

// For each multiple of a half in -128 .. 127.5 (number i stands for i / 2 - 128 and all up to the next one) the nearest
// entry of the table. Exact, since what lies midway between two entries is such a multiple; it goes to the upper one.
inline constexpr auto kNearestIq4 = [] {
  std::array<std::uint8_t, 512> nearest_entry{};
  int entry = 0;
  for (int i = 0; i < 512; ++i) {
    while (entry < 15 && kIq4Nl[entry] + kIq4Nl[entry + 1] <= i - 256) ++entry;
    nearest_entry[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(entry);
  }
  return nearest_entry;
}();

inline int nearest_iq4(float value) {
  return kNearestIq4[static_cast<std::size_t>(std::min(127.5f, std::max(-128.0f, value)) * 2 + 256)];
}

struct TableFit {
  float scale = 0;
  float error = 0;  // Squared error less the sum of squares of the values: at most zero.
};

// The best scale for the codes that `inverse` gives.
inline TableFit fit_table(const float* values, float inverse) {
  float entries[32];
  for (int i = 0; i < 32; ++i) entries[i] = kIq4Nl[nearest_iq4(values[i] * inverse)];
  const float products = sum_of_products<32>(values, entries), squares = sum_of_products<32>(entries, entries);
  return {products / squares, -products * products / squares};
}

// The scale for 32 values: tries codings in which the value of largest magnitude gets about the first entry or the
// last.
inline float search_table(const float* values) {
  float extreme = 0;
  for (int i = 0; i < 32; ++i) {
    if (std::fabs(values[i]) > std::fabs(extreme)) extreme = values[i];
  }
  if (!(std::fabs(extreme) > 1e-30f)) return 0;
  TableFit best{extreme / kIq4Nl[0], 0};
  for (const int end : {0, 15}) {
    for (int step = -7; step <= 7; ++step) {
      const TableFit fit = fit_table(values, static_cast<float>(kIq4Nl[end] + step) / extreme);
      if (fit.error < best.error) best = fit;
    }
  }
  return best.scale;
}

// The codes for a given scale. Returns the squared error.
inline float assign_table(const float* values, float scale, int* codes) {
  const float inverse = inverse_or_zero(scale);
  float entries[32];
  for (int i = 0; i < 32; ++i) {
    codes[i] = nearest_iq4(values[i] * inverse);
    entries[i] = kIq4Nl[codes[i]];
  }
  return squared_error<32>(values, entries, scale, 0);
}

}  // namespace plait
