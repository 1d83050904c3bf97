// Rows of keys and values: their types, and how they are written to blocks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/float_kernels.h"

namespace plait {

// How rows are kept. load16 and store16 take sixteen values, widened exactly and rounded to nearest even.
struct F32Rows {
  static constexpr int kBytes = 4;
  using Bits = std::uint32_t;
  template <class V>
  [[gnu::always_inline]] static typename V::F32x16 load16(const void* p) {
    return V::load(static_cast<const float*>(p));
  }
  template <class V>
  [[gnu::always_inline]] static void store16(void* p, typename V::F32x16 x) {
    V::store(static_cast<float*>(p), x);
  }
};
struct F16Rows {
  static constexpr int kBytes = 2;
  using Bits = std::uint16_t;
  template <class V>
  [[gnu::always_inline]] static typename V::F32x16 load16(const void* p) {
    return V::half16(p);
  }
  template <class V>
  [[gnu::always_inline]] static void store16(void* p, typename V::F32x16 x) {
    V::store_half16(p, x);
  }
};
struct BF16Rows {
  static constexpr int kBytes = 2;
  using Bits = std::uint16_t;
  template <class V>
  [[gnu::always_inline]] static typename V::F32x16 load16(const void* p) {
    return V::bf16_16(p);
  }
  template <class V>
  [[gnu::always_inline]] static void store16(void* p, typename V::F32x16 x) {
    V::store_bf16_16(p, x);
  }
};

// Keys: [dim][16 rows], so each row is scattered.
template <class V, class Rows>
void write_keys(const WriteRowsArgs& args) {
  using Bits = typename Rows::Bits;
  Bits* const block = reinterpret_cast<Bits*>(args.block);
  for (int r = 0; r < args.count; ++r) {
    const float* const row = args.rows + static_cast<std::ptrdiff_t>(r) * args.stride;
    Bits* const to = block + args.first_row + r;
    for (int i = 0; i < args.dim; i += 16) {
      const int left = args.dim - i < 16 ? args.dim - i : 16;
      Bits sixteen[16];
      Rows::template store16<V>(sixteen, V::load_partial(row + i, left));
      for (int l = 0; l < left; ++l) to[(i + l) * kAttendBlock] = sixteen[l];
    }
  }
}

// Values: [16 rows][dim].
template <class V, class Rows>
void write_values(const WriteRowsArgs& args) {
  using Bits = typename Rows::Bits;
  for (int r = 0; r < args.count; ++r) {
    const float* const row = args.rows + static_cast<std::ptrdiff_t>(r) * args.stride;
    Bits* const to = reinterpret_cast<Bits*>(args.block) + (args.first_row + r) * args.dim;
    int i = 0;
    for (; i + 16 <= args.dim; i += 16) Rows::template store16<V>(to + i, V::load(row + i));
    if (i == args.dim) continue;
    Bits sixteen[16];
    Rows::template store16<V>(sixteen, V::load_partial(row + i, args.dim - i));
    for (int l = 0; i + l < args.dim; ++l) to[i + l] = sixteen[l];
  }
}

}  // namespace plait
