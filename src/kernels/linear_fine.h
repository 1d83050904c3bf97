// Quantized weights times fine activations (16 bits): the chain of kernels/linear.h, with the sum of a group taken from
// two planes, each a token of its own to the dot.
#pragma once

#include "kernels/linear_group.h"

namespace plait {

// One group of kTiles tiles times kTokens tokens. x[n][2 * group] and the one behind it are the planes of token n.
template <class V, class F, int kTiles, int kTokens>
[[gnu::always_inline]] inline void advance_group_fine(const BlockScales<V, F, kTiles>& block, int g,
                                                      const ActivationGroup* const (&x)[kTokens], int group,
                                                      typename V::F32x16 (&acc)[kTiles][kTokens]) {
  using Tile = typename F::template Tile<V>;
  using F32x16 = typename V::F32x16;
  using I32x16 = typename V::I32x16;
  constexpr int kParts = F::kInfo.scales_per_group, kDwords = 8 / kParts, kMaxCode = Tile::kMaxCode;
  F32x16 v[kTiles][kTokens];
#pragma GCC unroll 2
  for (int part = 0; part < kParts; ++part) {
    typename V::template Dot<kMaxCode> upper[kTiles][kTokens], lower[kTiles][kTokens];
#pragma GCC unroll 8
    for (int n = 0; n < kTokens; ++n) {
      for (int r = 0; r < kTiles; ++r) {
        upper[r][n] = V::template dot_begin<kMaxCode>(V::set_int(0));
        lower[r][n] = V::template dot_begin<kMaxCode>(V::set_int(dot_start<Tile>(x[n][2 * group + 1], part)));
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < kDwords; ++i) {
      const int at = 4 * (part * kDwords + i);
#pragma GCC unroll 4
      for (int r = 0; r < kTiles; ++r) {
        const typename V::U8x64 codes = Tile::codes(block.record, block.tile + r, g, part * kDwords + i);
#pragma GCC unroll 8
        for (int n = 0; n < kTokens; ++n) {
          V::template dot_step<kMaxCode>(upper[r][n], codes, x[n][2 * group].codes + at, i, kDwords);
          V::template dot_step<kMaxCode>(lower[r][n], codes, x[n][2 * group + 1].codes + at, i, kDwords);
        }
      }
    }
#pragma GCC unroll 4
    for (int r = 0; r < kTiles; ++r) {
#pragma GCC unroll 8
      for (int n = 0; n < kTokens; ++n) {
        const I32x16 high = V::template dot_end<kMaxCode>(upper[r][n]);
        const I32x16 low = V::template dot_end<kMaxCode>(lower[r][n]);
        // 255 * high + low, which is less than 2^28 (linear-kernels.md 3).
        const F32x16 d = V::to_float(V::add(V::template shift_left_int<8>(high), V::sub(low, high)));
        const F32x16 scale = block.scale(r, g, part);
        v[r][n] = part == 0 ? V::mul(d, scale) : V::fma(d, scale, v[r][n]);
        if constexpr (F::kInfo.has_mins) {
          v[r][n] = block.subtract_min(r, g, part, V::set(x[n][2 * group + 1].sum[part]), v[r][n]);
        }
      }
    }
  }
#pragma GCC unroll 8
  for (int n = 0; n < kTokens; ++n) {
    const F32x16 scale = V::set(x[n][2 * group + 1].scale);
#pragma GCC unroll 4
    for (int r = 0; r < kTiles; ++r) acc[r][n] = V::fma(v[r][n], scale, acc[r][n]);
  }
}

}  // namespace plait
