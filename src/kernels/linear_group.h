// What every product of quantized weights is made of: the sum of one group of 32 values, and the scales of its block.
//
// A format says by Tile<V> how a record of a packed pair is read (kernels/linear.h).
#pragma once

#include "formats/format.h"
#include "kernels/kernels.h"

namespace plait {

template <class F>
concept OneScale = requires { F::kOneScale; };

// Where the product of one part begins. Codes without a zero begin at 0; panels hold those of any format.
template <class Tile>
[[gnu::always_inline]] inline int dot_start(const ActivationGroup& x, int part) {
  if constexpr (requires { requires Tile::kZero == 0; }) {
    return 0;
  } else {
    return x.start[part];
  }
}

// The scales and mins of one block of a few tiles. Where a block has several groups they are worked out beforehand,
// into memory: within the loop over groups they would take the registers that sums need. One scale is no work.
template <class V, class F, int kTiles>
struct BlockScales {
  using Tile = typename F::template Tile<V>;
  using F32x16 = typename V::F32x16;
  static constexpr int kGroups = F::kInfo.block_values / 32, kParts = F::kInfo.scales_per_group;
  static constexpr bool kStored = kGroups > 1 && !OneScale<F>, kOffsets = requires { &Tile::offset; };
  static constexpr bool kMins = F::kInfo.has_mins;

  const std::byte* record;
  int tile;
  alignas(64) float scales[kStored ? kGroups : 1][kParts][kTiles][kTileRows];
  alignas(64) float mins[kStored && kMins ? kGroups : 1][kParts][kTiles][kTileRows];

  [[gnu::always_inline]] void read(const std::byte* at, int first_tile) {
    record = at;
    tile = first_tile;
    if constexpr (kStored) {
#pragma GCC unroll 8
      for (int g = 0; g < kGroups; ++g) {
#pragma GCC unroll 2
        for (int part = 0; part < kParts; ++part) {
#pragma GCC unroll 4
          for (int r = 0; r < kTiles; ++r) {
            V::store(scales[g][part][r], Tile::scale(at, first_tile + r, g, part));
            if constexpr (kMins) V::store(mins[g][part][r], Tile::min(at, first_tile + r, g, part));
          }
        }
      }
    }
  }
  [[gnu::always_inline]] F32x16 scale(int r, int g, int part) const {
    if constexpr (kStored) {
      return V::load(scales[g][part][r]);
    } else {
      return Tile::scale(record, tile + r, g, part);
    }
  }
  // v - min * sum, rounded once.
  [[gnu::always_inline]] F32x16 subtract_min(int r, int g, int part, F32x16 sum, F32x16 v) const {
    if constexpr (kStored) {
      return V::fnma(V::load(mins[g][part][r]), sum, v);
    } else if constexpr (kOffsets) {
      return V::fma(Tile::offset(record, tile + r, g, part), sum, v);
    } else {
      return V::fnma(Tile::min(record, tile + r, g, part), sum, v);
    }
  }
};

// One group of kTiles tiles times kTokens tokens: the body of the chain.
template <class V, class F, int kTiles, int kTokens>
[[gnu::always_inline]] inline void advance_group(const BlockScales<V, F, kTiles>& block, int g,
                                                 const ActivationGroup* const (&x)[kTokens], int group,
                                                 typename V::F32x16 (&acc)[kTiles][kTokens]) {
  using Tile = typename F::template Tile<V>;
  using F32x16 = typename V::F32x16;
  constexpr int kParts = F::kInfo.scales_per_group, kDwords = 8 / kParts, kMaxCode = Tile::kMaxCode;
  F32x16 v[kTiles][kTokens];
#pragma GCC unroll 2
  for (int part = 0; part < kParts; ++part) {
    typename V::template Dot<kMaxCode> dots[kTiles][kTokens];
#pragma GCC unroll 8
    for (int n = 0; n < kTokens; ++n) {
      for (int r = 0; r < kTiles; ++r) {
        dots[r][n] = V::template dot_begin<kMaxCode>(V::set_int(dot_start<Tile>(x[n][group], part)));
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < kDwords; ++i) {
      const int j = part * kDwords + i;
#pragma GCC unroll 4
      for (int r = 0; r < kTiles; ++r) {
        const typename V::U8x64 codes = Tile::codes(block.record, block.tile + r, g, j);
#pragma GCC unroll 8
        for (int n = 0; n < kTokens; ++n) {
          V::template dot_step<kMaxCode>(dots[r][n], codes, x[n][group].codes + 4 * j, i, kDwords);
        }
      }
    }
#pragma GCC unroll 4
    for (int r = 0; r < kTiles; ++r) {
#pragma GCC unroll 8
      for (int n = 0; n < kTokens; ++n) {
        const F32x16 d = V::to_float(V::template dot_end<kMaxCode>(dots[r][n]));
        const F32x16 scale = block.scale(r, g, part);
        v[r][n] = part == 0 ? V::mul(d, scale) : V::fma(d, scale, v[r][n]);
        if constexpr (F::kInfo.has_mins) {
          v[r][n] = block.subtract_min(r, g, part, V::set(x[n][group].sum[part]), v[r][n]);
        }
      }
    }
  }
#pragma GCC unroll 8
  for (int n = 0; n < kTokens; ++n) {
    const F32x16 scale = V::set(x[n][group].scale);
#pragma GCC unroll 4
    for (int r = 0; r < kTiles; ++r) acc[r][n] = V::fma(v[r][n], scale, acc[r][n]);
  }
}

}  // namespace plait
