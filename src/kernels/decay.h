// The decay factor of a gated recurrence: exp(a * softplus(alpha + dt)), one a head (linear-kernels.md 7.4).
#pragma once

#include "kernels/vector.h"

namespace plait {

template <class V>
void decay(const float* alpha, const float* a, const float* dt, float* out, int count) {
  for (int i = 0; i < count; i += 16) {
    const int left = count - i < 16 ? count - i : 16;
    const typename V::F32x16 step =
        Softplus<V>::of(V::add(V::load_partial(alpha + i, left), V::load_partial(dt + i, left)));
    V::store_partial(out + i, exp16<V>(V::mul(V::load_partial(a + i, left), step)), left);
  }
}

}  // namespace plait
