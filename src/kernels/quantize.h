// Activations to codes of 8 or 16 bits, exactly as linear-kernels.md 3 says.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/kernels.h"

namespace plait {

// q = 255 * the first plane's code + the second's, both in [-127, 127]. The multiple of 1 / 255 is at least 1 / 510
// away from where rounding turns, which is far more than its error.
template <class V>
[[gnu::always_inline]] inline void store_fine(typename V::I32x16 q, std::int8_t* first, std::int8_t* second) {
  const typename V::I32x16 upper = V::round_to_int(V::mul(V::to_float(q), V::set(1 / 255.0f)));
  V::store_s8(first, upper);
  V::store_s8(second, V::add(V::sub(q, V::template shift_left_int<8>(upper)), upper));
}

// One group of 32 values, given as two halves; `planes` has one of them for each plane.
template <class V, int kPlanes>
[[gnu::always_inline]] inline void quantize_group(typename V::F32x16 low, typename V::F32x16 high, int zero, int parts,
                                                  ActivationGroup* planes) {
  constexpr float kSteps = kPlanes == 1 ? 127.0f : 32512.0f;  // 32512 = 255 * 127 + 127
  ActivationGroup& out = planes[kPlanes - 1];
  const typename V::I32x16 larger = V::max_int(V::bits(V::abs(low)), V::bits(V::abs(high)));
  const std::int32_t top_bits = V::max_across_int(larger);  // Magnitudes are ordered as their bits are.
  const float top = __builtin_bit_cast(float, top_bits);
  float inverse = 0;
  out.scale = 0;
  if (top_bits >= 0x7f800000) {
    out.scale = __builtin_bit_cast(float, 0x7fc00000);
    low = high = V::set(0);
  } else if (top >= 0x1p-100f) {
    out.scale = top / kSteps;
    inverse = kSteps / top;
  }
  const typename V::I32x16 q0 = V::round_to_int(V::mul(low, V::set(inverse)));
  const typename V::I32x16 q1 = V::round_to_int(V::mul(high, V::set(inverse)));
  if constexpr (kPlanes == 1) {
    V::store_s8(out.codes, q0);
    V::store_s8(out.codes + 16, q1);
  } else {
    store_fine<V>(q0, planes[0].codes, out.codes);
    store_fine<V>(q1, planes[0].codes + 16, out.codes + 16);
  }
  std::int32_t sum0, sum1 = 0;
  if (parts == 1) {
    sum0 = V::sum_across_int(V::add(q0, q1));
  } else {
    sum0 = V::sum_across_int(q0);
    sum1 = V::sum_across_int(q1);
  }
  out.start[0] = -zero * sum0;
  out.start[1] = -zero * sum1;
  out.sum[0] = static_cast<float>(sum0);
  out.sum[1] = static_cast<float>(sum1);
}

template <class V, int kPlanes>
void quantize_activations(const QuantizeArgs& args) {
  const int stride = activation_stride(args.cols, kPlanes);
  for (int token = args.token_begin; token < args.token_end; ++token) {
    const float* x = args.x + token * args.x_stride;
    ActivationGroup* out = args.out + static_cast<std::ptrdiff_t>(token) * stride;
    int begin = 0;
    for (; begin + 32 <= args.cols; begin += 32, out += kPlanes) {
      quantize_group<V, kPlanes>(V::load(x + begin), V::load(x + begin + 16), args.zero, args.parts, out);
    }
    const int rest = args.cols - begin;
    if (rest > 0) {
      const typename V::F32x16 low = V::load_partial(x + begin, rest < 16 ? rest : 16);
      const typename V::F32x16 high = rest > 16 ? V::load_partial(x + begin + 16, rest - 16) : V::set(0);
      quantize_group<V, kPlanes>(low, high, args.zero, args.parts, out);
    }
  }
}

}  // namespace plait
