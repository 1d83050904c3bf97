// The search behind Q2_K, Q4_K and Q5_K: small integer codes with a scale and a min for each part of a block, both of
// which are small integers times an f16 of the block. Minimizes the squared error.
#pragma once

#include "formats/search.h"

namespace plait {

// A value is scale * code - min; min >= 0.
struct AffineFit {
  float scale = 0, min = 0;
};

// The best line through (code, value) for given codes, with min >= 0.
template <int kCount>
AffineFit fit_line(const float* values, const float* codes, float sum_values) {
  constexpr float kN = kCount;
  const float sum = sum_of<kCount>(codes), squares = sum_of_products<kCount>(codes, codes);
  const float products = sum_of_products<kCount>(values, codes);
  const float determinant = kN * squares - sum * sum;
  if (determinant <= 0) return {};
  const AffineFit fit{(kN * products - sum_values * sum) / determinant,
                      (sum * products - squares * sum_values) / determinant};
  if (fit.min >= 0) return fit;
  return {products / squares, 0};
}

// Tries codings whose range is up to one code wider or narrower than the values' own.
template <int kCount>
AffineFit fit_part(const float* values, float highest_code) {
  constexpr int kSteps = 16;
  const float low = std::min(*std::min_element(values, values + kCount), 0.0f);
  const float range = *std::max_element(values, values + kCount) - low;
  if (!(range > 1e-30f)) return {0, -low};
  const float sum_values = sum_of<kCount>(values);
  AffineFit best{range / highest_code, -low};
  float codes[kCount];
  assign_codes<kCount>(values, highest_code / range, -low * (highest_code / range), 0, highest_code, codes);
  float best_error = squared_error<kCount>(values, codes, best.scale, best.min);
  for (int step = 0; step < kSteps; ++step) {
    const float inverse = (highest_code - 0.9f + 0.12f * static_cast<float>(step)) / range;
    assign_codes<kCount>(values, inverse, -low * inverse, 0, highest_code, codes);
    const AffineFit fit = fit_line<kCount>(values, codes, sum_values);
    const float error = squared_error<kCount>(values, codes, fit.scale, fit.min);
    if (error < best_error && fit.scale > 0) {
      best = fit;
      best_error = error;
    }
  }
  return best;
}

template <int kCount>
struct AffineBlock {
  static constexpr int kParts = 256 / kCount;
  std::uint16_t scale, min;  // f16 bits.
  int scale_codes[kParts], min_codes[kParts];
  float codes[256];
};

// Chooses the part's scale and min code around the fitted ones, and its codes.
template <int kCount>
void choose_part(const float* values, AffineFit fit, float highest_code, int highest_scale, int part,
                 AffineBlock<kCount>& block) {
  const float scale_unit = f16_to_float(block.scale), min_unit = f16_to_float(block.min);
  const auto highest = static_cast<float>(highest_scale);
  const float scale_code = nearest(std::min(fit.scale * inverse_or_zero(scale_unit), highest));
  const float min_code = nearest(std::min(fit.min * inverse_or_zero(min_unit), highest));
  float best_error = -1;
  for (float s = std::max(scale_code - 1, 0.0f); s <= std::min(scale_code + 1, highest); ++s) {
    for (float m = std::max(min_code - 1, 0.0f); m <= std::min(min_code + 1, highest); ++m) {
      const float scale = scale_unit * s, min = min_unit * m, inverse = inverse_or_zero(scale);
      float codes[kCount];
      assign_codes<kCount>(values, inverse, min * inverse, 0, highest_code, codes);
      const float error = squared_error<kCount>(values, codes, scale, min);
      if (best_error >= 0 && !(error < best_error)) continue;
      best_error = error;
      block.scale_codes[part] = static_cast<int>(s);
      block.min_codes[part] = static_cast<int>(m);
      std::copy_n(codes, kCount, block.codes + part * kCount);
    }
  }
}

// Codes lie in 0 .. highest_code, scale and min codes in 0 .. highest_scale.
template <int kCount>
AffineBlock<kCount> encode_affine(const float* values, int highest_code, int highest_scale) {
  AffineBlock<kCount> block;
  AffineFit fits[AffineBlock<kCount>::kParts];
  float scale = 0, min = 0;
  const auto highest = static_cast<float>(highest_code);
  for (int part = 0; part < AffineBlock<kCount>::kParts; ++part) {
    fits[part] = fit_part<kCount>(values + part * kCount, highest);
    scale = std::max(scale, fits[part].scale);
    min = std::max(min, fits[part].min);
  }
  block.scale = f16_scale(scale / static_cast<float>(highest_scale));
  block.min = f16_scale(min / static_cast<float>(highest_scale));
  for (int part = 0; part < AffineBlock<kCount>::kParts; ++part) {
    choose_part<kCount>(values + part * kCount, fits[part], highest, highest_scale, part, block);
  }
  return block;
}

}  // namespace plait
