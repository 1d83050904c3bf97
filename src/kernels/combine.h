// The weighted sum of a token's experts (linear-kernels.md 7.4).
#pragma once

#include "kernels/float_kernels.h"

namespace plait {

// Up to sixteen columns from column i on.
template <class V, class Load>
[[gnu::always_inline]] inline typename V::F32x16 combine16(const CombineArgs& args, int i, const Load& load) {
  typename V::F32x16 sum = V::set(0);
  for (int n = 0; n < args.count; ++n)
    sum = V::fma(V::set(args.weights[n]), load(args.rows + args.chosen[n] * args.stride + i), sum);
  // A factor of one is exact: this is also the plain sum.
  if (args.last != nullptr) sum = V::fma(V::set(args.last_weight), load(args.last + i), sum);
  return sum;
}

template <class V>
void combine(const CombineArgs& args) {
  int i = 0;
  for (; i + 16 <= args.width; i += 16)
    V::store(args.out + i, combine16<V>(args, i, [](const float* p) { return V::load(p); }));
  if (i == args.width) return;
  const int left = args.width - i;
  V::store_partial(args.out + i, combine16<V>(args, i, [left](const float* p) { return V::load_partial(p, left); }),
                   left);
}

}  // namespace plait
