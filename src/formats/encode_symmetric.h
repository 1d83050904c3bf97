// The search behind Q3_K and Q6_K: signed codes with a signed integer scale for each 16 values, times an f16 of the
// block. Minimizes the squared error.
#pragma once

#include "formats/search.h"

namespace plait {

struct SymmetricRange {
  float low, high;              // Of codes; -low = high + 1.
  float scale_low, scale_high;  // Of scale codes, likewise.
};

struct SymmetricBlock {
  std::uint16_t scale;  // f16 bits.
  int scale_codes[16];
  float codes[256];
};

// The scale for 16 values. Tries codings in which the value of largest magnitude gets about the lowest code; the plain
// one first, which a mere rounding error must not beat.
inline float fit_symmetric(const float* values, const SymmetricRange& range) {
  constexpr float kSteps[] = {0, -0.15f, 0.15f, -0.3f, 0.3f, -0.45f, 0.45f, -0.6f, 0.6f, -0.75f, 0.75f, -0.9f, 0.9f};
  float extreme = 0;
  for (int i = 0; i < 16; ++i) {
    if (std::fabs(values[i]) > std::fabs(extreme)) extreme = values[i];
  }
  if (!(std::fabs(extreme) > 1e-30f)) return 0;
  float best = extreme / range.low, best_gain = 0;
  for (const float step : kSteps) {
    const float inverse = (range.low + step) / extreme;
    float codes[16];
    assign_codes<16>(values, inverse, 0, range.low, range.high, codes);
    const float products = sum_of_products<16>(values, codes), squares = sum_of_products<16>(codes, codes);
    if (!(squares > 0)) continue;
    const float gain = products * products / squares;  // What the squared error is smaller by than with zeros.
    if (!(gain > best_gain * 1.000001f)) continue;
    best = products / squares;
    best_gain = gain;
  }
  return best;
}

// Chooses the part's scale code around the fitted scale, and its codes. Returns the squared error.
inline float choose_symmetric(const float* values, float fitted, const SymmetricRange& range, int part,
                              SymmetricBlock& block) {
  const float unit = f16_to_float(block.scale);
  const float around = nearest(std::clamp(fitted * inverse_or_zero(unit), range.scale_low, range.scale_high));
  float best_error = -1;
  for (float s = std::max(around - 1, range.scale_low); s <= std::min(around + 1, range.scale_high); ++s) {
    const float scale = unit * s;
    float codes[16];
    assign_codes<16>(values, inverse_or_zero(scale), 0, range.low, range.high, codes);
    const float error = squared_error<16>(values, codes, scale, 0);
    if (best_error >= 0 && !(error < best_error)) continue;
    best_error = error;
    block.scale_codes[part] = static_cast<int>(s);
    std::copy_n(codes, 16, block.codes + 16 * part);
  }
  return best_error;
}

inline SymmetricBlock encode_symmetric(const float* values, const SymmetricRange& range) {
  float scales[16];
  float extreme = 0;
  for (int part = 0; part < 16; ++part) {
    scales[part] = fit_symmetric(values + 16 * part, range);
    if (std::fabs(scales[part]) > std::fabs(extreme)) extreme = scales[part];
  }
  SymmetricBlock best;
  float best_error = -1;
  // The f16 rounds differently for each code that the largest scale may have. That matters only where all else fits.
  const float rounding = sum_of_products<256>(values, values) * 0x1p-20f;
  for (int step = 0; step < 8 && (step == 0 || best_error < rounding); ++step) {
    SymmetricBlock block;
    block.scale = f16_scale(extreme / (range.scale_low + static_cast<float>(step)));
    float error = 0;
    for (int part = 0; part < 16; ++part) {
      error += choose_symmetric(values + 16 * part, scales[part], range, part, block);
    }
    if (best_error >= 0 && !(error < best_error)) continue;
    best = block;
    best_error = error;
  }
  return best;
}

}  // namespace plait
