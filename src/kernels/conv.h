// Causal convolution of one token, each channel by itself, the oldest tap first (linear-kernels.md 7.4).
#pragma once

#include "kernels/float_kernels.h"
#include "kernels/vector.h"

namespace plait {

template <class V, bool kSilu>
[[gnu::always_inline]] inline typename V::F32x16 conv16(const ConvTokenArgs& a, int c, int count) {
  typename V::F32x16 y = V::set(0.0f);
  for (int i = 0; i < a.tap_count; ++i) {
    if (a.inputs[i] == nullptr) continue;  // Zeros.
    const float* const w = a.taps + static_cast<std::ptrdiff_t>(i) * a.channels + c;
    const bool whole = count == 16;
    const typename V::F32x16 tap = whole ? V::load(w) : V::load_partial(w, count);
    const typename V::F32x16 x = whole ? V::load(a.inputs[i] + c) : V::load_partial(a.inputs[i] + c, count);
    y = V::fma(tap, x, y);
  }
  if constexpr (kSilu) y = Silu<V>::of(y);
  return y;
}

template <class V, bool kSilu>
void conv_token(const ConvTokenArgs& a) {
  int c = 0;
  for (; c + 16 <= a.channels; c += 16) V::store(a.out + c, conv16<V, kSilu>(a, c, 16));
  if (c < a.channels) V::store_partial(a.out + c, conv16<V, kSilu>(a, c, a.channels - c), a.channels - c);
}

}  // namespace plait
