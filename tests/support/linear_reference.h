// The slow, obvious product of weights and activations, as linear-kernels.md 1 and 3 say it, and the same in double.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "formats/format.h"

namespace plait {

struct ReferenceGroup {
  int codes[32];
  float scale;
};

constexpr int kReferenceSteps = 127, kReferenceFineSteps = 32512;  // The largest code of 8 and of 16 bits.

// `count` values, at most 32, to codes in [-steps, steps]; the rest counts as +0.
ReferenceGroup reference_quantize(const float* x, int count, int steps);

struct ReferenceLinear {
  const Format* format = nullptr;
  const std::byte* rows = nullptr;  // As in a file.
  int row_count = 0, cols = 0;
  int activations = 8;  // Bits: 8, 16 or, with weights decoded first, 32.
  float tensor_scale = 1.0f;
  const float* bias = nullptr;
};

// The outputs of one token, bit for bit.
std::vector<float> reference_linear(const ReferenceLinear& w, const float* x);

struct BoundedOutput {
  double exact = 0;              // In double, from the quantized activations (in float arithmetic: from x).
  double bound = 0;              // Of the error of reference_linear against it: linear-kernels.md 9 (a).
  double from_floats = 0;        // From the activations as they were.
  double from_floats_bound = 0;  // 9 (b).
};
std::vector<BoundedOutput> reference_linear_bounds(const ReferenceLinear& w, const float* x);

}  // namespace plait
