// Rotation of one head by the angles of its position: y0 = fma(x0, c, -(x1 * s)), y1 = fma(x0, s, x1 * c).
#pragma once

#include "kernels/vector.h"

namespace plait {

// Pairs (i, i + rotated / 2).
template <class V>
void rope_halves(float* head, const float* angles, int rotated) {
  using F = typename V::F32x16;
  const int pairs = rotated / 2;
  float* const high = head + pairs;
  const float* const sines = angles + pairs;
  for (int i = 0; i < pairs; i += 16) {
    const int left = pairs - i;
    const bool whole = left >= 16;
    const F x0 = whole ? V::load(head + i) : V::load_partial(head + i, left);
    const F x1 = whole ? V::load(high + i) : V::load_partial(high + i, left);
    const F c = whole ? V::load(angles + i) : V::load_partial(angles + i, left);
    const F s = whole ? V::load(sines + i) : V::load_partial(sines + i, left);
    const F y0 = V::fma(x0, c, negate16<V>(V::mul(x1, s)));
    const F y1 = V::fma(x0, s, V::mul(x1, c));
    if (whole) {
      V::store(head + i, y0);
      V::store(high + i, y1);
    } else {
      V::store_partial(head + i, y0, left);
      V::store_partial(high + i, y1, left);
    }
  }
}

// Pairs (2i, 2i + 1). The vocabulary has no way to part neighbours; the compiler finds one.
template <class V>
void rope_neighbours(float* __restrict head, const float* __restrict angles, int rotated) {
  const int pairs = rotated / 2;
  const float* const sines = angles + pairs;
  for (int i = 0; i < pairs; ++i) {
    const float x0 = head[2 * i], x1 = head[2 * i + 1];
    head[2 * i] = __builtin_fmaf(x0, angles[i], -(x1 * sines[i]));
    head[2 * i + 1] = __builtin_fmaf(x0, sines[i], x1 * angles[i]);
  }
}

}  // namespace plait
