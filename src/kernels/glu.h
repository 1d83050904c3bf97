// The gated feed-forward's middle: act(gate) * up.
#pragma once

#include "kernels/vector.h"

namespace plait {

template <class V, class Function>
void glu(const float* gate, const float* up, float* out, int count) {
  int i = 0;
  for (; i + 16 <= count; i += 16) V::store(out + i, V::mul(Function::of(V::load(gate + i)), V::load(up + i)));
  if (i == count) return;
  const int left = count - i;
  const typename V::F32x16 y = V::mul(Function::of(V::load_partial(gate + i, left)), V::load_partial(up + i, left));
  V::store_partial(out + i, y, left);
}

}  // namespace plait
