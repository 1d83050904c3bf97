// Float functions over vectors (linear-kernels.md 7.1, 7.2): sums over a width, exp and what is made of it.
#pragma once

namespace plait {

constexpr float kExpMost = 0x1.62e42ep+6f;    // Beyond it exp is infinite,
constexpr float kExpLeast = -0x1.5d589ep+6f;  // and below this it is zero: there are no denormal results.

// Sixteen lanes of exp for kExpLeast <= x <= kExpMost.
template <class V>
[[gnu::always_inline]] inline typename V::F32x16 exp_unlimited16(typename V::F32x16 x) {
  using F = typename V::F32x16;
  const typename V::I32x16 n = V::round_to_int(V::mul(x, V::set(0x1.715476p+0f)));
  const F count = V::to_float(n);
  F r = V::fma(count, V::set(-0x1.62e400p-1f), x);
  r = V::fma(count, V::set(-0x1.7f7d1cp-20f), r);
  F p = V::fma(V::set(0x1.6a23d0p-10f), r, V::set(0x1.123a20p-7f));
  p = V::fma(p, r, V::set(0x1.5558f2p-5f));
  p = V::fma(p, r, V::set(0x1.555492p-3f));
  p = V::fma(p, r, V::set(0x1.fffffcp-2f));
  p = V::fma(p, r, V::set(1.0f));
  p = V::fma(p, r, V::set(1.0f));
  return V::scale_by_power(p, n);
}

// Sixteen lanes of exp; NaN stays NaN.
template <class V>
[[gnu::always_inline]] inline typename V::F32x16 exp16(typename V::F32x16 x) {
  typename V::F32x16 p = exp_unlimited16<V>(x);
  p = V::select(V::less(V::set(kExpMost), x), V::set(__builtin_inff()), p);
  p = V::select(V::less(x, V::set(kExpLeast)), V::set(0.0f), p);
  return V::select(V::unordered(x), x, p);
}

// One exp, by the same operations.
template <class V>
[[gnu::always_inline]] inline float exp1(float x) {
  float lanes[16];
  V::store(lanes, exp16<V>(V::set(x)));
  return lanes[0];
}

template <class V>
[[gnu::always_inline]] inline typename V::F32x16 negate16(typename V::F32x16 x) {
  return V::from_bits(V::add(V::bits(x), V::set_int(-2147483647 - 1)));  // Flips the sign, of NaN too.
}

template <class V>
[[gnu::always_inline]] inline typename V::F32x16 log1p16(typename V::F32x16 t) {
  using F = typename V::F32x16;
  const F z = V::div(t, V::add(V::set(2.0f), t));
  const F v = V::mul(z, z);
  F q = V::fma(V::set(0x1.f1c23ep-3f), v, V::set(0x1.b6d1e8p-3f));
  q = V::fma(q, v, V::set(0x1.2509a4p-2f));
  q = V::fma(q, v, V::set(0x1.9996a6p-2f));
  q = V::fma(q, v, V::set(0x1.555558p-1f));
  return V::fma(V::mul(z, v), q, V::add(z, z));
}

template <class V>
[[gnu::always_inline]] inline typename V::F32x16 tanh16(typename V::F32x16 x) {
  using F = typename V::F32x16;
  const F one = V::set(1.0f);
  const F e = exp16<V>(V::mul(V::set(-2.0f), V::abs(x)));
  const F y = V::div(V::sub(one, e), V::add(one, e));  // Not negative.
  return V::from_bits(V::or_int(V::bits(y), V::and_int(V::bits(x), -2147483647 - 1)));
}

// The functions as types, for the loops below.
template <class V>
struct Exp {
  [[gnu::always_inline]] static typename V::F32x16 of(typename V::F32x16 x) { return exp16<V>(x); }
};
template <class V>
struct Log1p {
  [[gnu::always_inline]] static typename V::F32x16 of(typename V::F32x16 x) { return log1p16<V>(x); }
};
template <class V>
struct Sigmoid {
  [[gnu::always_inline]] static typename V::F32x16 of(typename V::F32x16 x) {
    return V::div(V::set(1.0f), V::add(V::set(1.0f), exp16<V>(negate16<V>(x))));
  }
};
template <class V>
struct Silu {
  [[gnu::always_inline]] static typename V::F32x16 of(typename V::F32x16 x) {
    return V::div(x, V::add(V::set(1.0f), exp16<V>(negate16<V>(x))));
  }
};
template <class V>
struct Softplus {
  [[gnu::always_inline]] static typename V::F32x16 of(typename V::F32x16 x) {
    const typename V::F32x16 small = log1p16<V>(exp16<V>(negate16<V>(V::abs(x))));
    return V::select(V::unordered(x), x, V::add(V::max(x, V::set(0.0f)), small));
  }
};
template <class V>
struct Tanh {
  [[gnu::always_inline]] static typename V::F32x16 of(typename V::F32x16 x) { return tanh16<V>(x); }
};
template <class V>
struct GeluTanh {
  [[gnu::always_inline]] static typename V::F32x16 of(typename V::F32x16 x) {
    using F = typename V::F32x16;
    const F cubic = V::mul(x, V::fma(V::set(0.044715f), V::mul(x, x), V::set(1.0f)));
    const F u = V::mul(V::set(0x1.988454p-1f), cubic);
    return V::div(x, V::add(V::set(1.0f), exp16<V>(V::mul(V::set(-2.0f), u))));
  }
};
template <class V>
struct Relu2 {
  [[gnu::always_inline]] static typename V::F32x16 of(typename V::F32x16 x) {
    const typename V::F32x16 positive = V::max(x, V::set(0.0f));
    return V::select(V::unordered(x), x, V::mul(positive, positive));
  }
};

template <class V>
struct Identity {
  [[gnu::always_inline]] static typename V::F32x16 of(typename V::F32x16 x) { return x; }
};

template <class V, class Function>
void map(const float* x, float* out, int count) {
  int i = 0;
  for (; i + 16 <= count; i += 16) V::store(out + i, Function::of(V::load(x + i)));
  if (i < count) V::store_partial(out + i, Function::of(V::load_partial(x + i, count - i)), count - i);
}

template <class V>
float dot16(const float* x, const float* y, int count) {
  typename V::F32x16 s = V::set(0.0f);
  int i = 0;
  for (; i + 16 <= count; i += 16) s = V::fma(V::load(x + i), V::load(y + i), s);
  if (i < count) s = V::fma(V::load_partial(x + i, count - i), V::load_partial(y + i, count - i), s);
  return V::tree(s);
}

template <class V>
float sum16(const float* x, int count) {
  typename V::F32x16 s = V::set(0.0f);
  int i = 0;
  for (; i + 16 <= count; i += 16) s = V::add(s, V::load(x + i));
  if (i < count) s = V::add(s, V::load_partial(x + i, count - i));
  return V::tree(s);
}

template <class V>
void add_vectors(const float* x, const float* y, float* out, int count) {
  int i = 0;
  for (; i + 16 <= count; i += 16) V::store(out + i, V::add(V::load(x + i), V::load(y + i)));
  if (i == count) return;
  const int left = count - i;
  V::store_partial(out + i, V::add(V::load_partial(x + i, left), V::load_partial(y + i, left)), left);
}

template <class V>
void scale_vector(const float* x, float factor, float* out, int count) {
  const typename V::F32x16 by = V::set(factor);
  int i = 0;
  for (; i + 16 <= count; i += 16) V::store(out + i, V::mul(V::load(x + i), by));
  if (i < count) V::store_partial(out + i, V::mul(V::load_partial(x + i, count - i), by), count - i);
}

}  // namespace plait
