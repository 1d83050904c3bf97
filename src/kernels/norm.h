// RMS norm and L2 norm of one vector (linear-kernels.md 7.4).
#pragma once

#include "kernels/vector.h"

namespace plait {

template <class V>
void rms_norm(const float* x, const float* weight, float eps, float* out, int count) {
  using F = typename V::F32x16;
  const float mean = dot16<V>(x, x, count) / static_cast<float>(count);
  const F r = V::div(V::set(1.0f), V::sqrt(V::set(mean + eps)));
  int i = 0;
  for (; i + 16 <= count; i += 16) V::store(out + i, V::mul(V::mul(V::load(x + i), r), V::load(weight + i)));
  if (i == count) return;
  const int left = count - i;
  const F y = V::mul(V::mul(V::load_partial(x + i, left), r), V::load_partial(weight + i, left));
  V::store_partial(out + i, y, left);
}

// x / sqrt(dot16(x, x) + 1e-6), then times `scale` if that is not 1; in place.
template <class V>
void l2_norm(float* x, float scale, int count) {
  using F = typename V::F32x16;
  const F r = V::div(V::set(1.0f), V::sqrt(V::set(dot16<V>(x, x, count) + 1e-6f)));
  const F factor = V::set(scale);
  for (int i = 0; i < count; i += 16) {
    const int left = count - i < 16 ? count - i : 16;
    F y = V::mul(V::load_partial(x + i, left), r);
    if (scale != 1.0f) y = V::mul(y, factor);
    V::store_partial(x + i, y, left);
  }
}

}  // namespace plait
