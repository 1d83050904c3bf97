// Weight times activations, for every format: the direct kernels of linear-kernels.md 5.
//
// Packed weights are pairs of tiles of 16 rows. A pair is a stream: for each block of the format, one record of 32 rows
// with its scales first and its codes behind (float formats: for each value, the 32 rows). A format says by Tile<V> how
// a record is read; its bytes are those of the file, in another order:
//
//   template <class V> struct Tile {
//     static constexpr int kMaxCode;                                    // 255: codes of eight bits, zero V::kZero8
//     static constexpr int kZero;                                       // a weight is scale * (code - kZero) - min
//     static U8x64 codes(const std::byte* record, int tile, int g, int j);    // dword j of group g, sixteen rows
//     static F32x16 scale(const std::byte* record, int tile, int g, int part);
//     static F32x16 min(const std::byte* record, int tile, int g, int part);     // with has_mins,
//     static F32x16 offset(const std::byte* record, int tile, int g, int part);  // or, in its place, minus the min
//   };
//
// A format whose blocks have several groups with one scale says so by a member kOneScale.
#pragma once

#include <cstddef>
#include <cstdint>

#include "formats/list.h"
#include "kernels/kernels.h"
#include "kernels/tile.h"

namespace plait {

// Lanes are rows: `y` holds sixteen outputs of one token.
template <class V>
[[gnu::always_inline]] inline void store_outputs(const LinearArgs& args, int row, int token, typename V::F32x16 y) {
  const int count = args.rows - row < kTileRows ? args.rows - row : kTileRows;
  if (count <= 0) return;
  if (args.tensor_scale != 1.0f) y = V::mul(y, V::set(args.tensor_scale));
  float* out = args.out + token * args.out_stride + row;
  if (count == kTileRows) {
    if (args.bias != nullptr) y = V::add(y, V::load(args.bias + row));
    V::store(out, y);
  } else {
    if (args.bias != nullptr) y = V::add(y, V::load_partial(args.bias + row, count));
    V::store_partial(out, y, count);
  }
}

[[gnu::always_inline]] inline std::ptrdiff_t input_row(const LinearArgs& args, int token) {
  return args.token_rows != nullptr ? args.token_rows[token] : token;
}

template <class F>
concept OneScale = requires { F::kOneScale; };

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
      for (int g = 0; g < kGroups; ++g) {
        for (int part = 0; part < kParts; ++part) {
          for (int r = 0; r < kTiles; ++r) {
            V::store(scales[g][part][r], Tile::scale(record, tile + r, g, part));
            if constexpr (kMins) V::store(mins[g][part][r], Tile::min(record, tile + r, g, part));
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
        dots[r][n] = V::template dot_begin<kMaxCode>(V::set_int(x[n][group].start[part]));
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

constexpr int kPrefetchBytes = 6144;  // How far ahead of its reading the stream is fetched.

// Tiles of a pair taken at once with so many sums a tile: both, if they fit.
template <class V, int kSums>
inline constexpr int kDirectTiles = 2 * kSums <= V::kDirectSums ? 2 : 1;

// Fetches what the stream will give in a while: part `part` of `parts` of a record.
template <int kRecordBytes>
[[gnu::always_inline]] inline void prefetch_part(const std::byte* record, int part, int parts) {
  const std::byte* const at = record + kPrefetchBytes + part * (kRecordBytes / parts);
#pragma GCC unroll 32
  for (int line = 0; line < kRecordBytes / parts; line += 64) __builtin_prefetch(at + line);
}

// One pair times kTokens tokens from `token` on, over all of K. The tiles take turns block by block, so that the pair
// comes from memory steadily.
template <class V, class F, int kTokens>
void direct(const LinearArgs& args, const std::byte* record, int pair, int token) {
  constexpr int kRecordBytes = F::kInfo.block_bytes * kPairRows;
  constexpr int kGroups = F::kInfo.block_values / 32;
  constexpr int kTiles = kDirectTiles<V, kTokens>, kTurns = 2 / kTiles;
  const ActivationGroup* x[kTokens];
  typename V::F32x16 acc[kTurns][kTiles][kTokens];
#pragma GCC unroll 8
  for (int n = 0; n < kTokens; ++n) {
    x[n] = args.groups + input_row(args, token + n) * activation_stride(args.cols);
    for (int turn = 0; turn < kTurns; ++turn) {
      for (int r = 0; r < kTiles; ++r) acc[turn][r][n] = V::set(0);
    }
  }
  const int blocks = static_cast<int>(row_blocks(F::kInfo, args.cols));
  BlockScales<V, F, kTiles> scales;
  for (int block = 0; block < blocks; ++block, record += kRecordBytes) {
    for (int turn = 0; turn < kTurns; ++turn) {
      scales.read(record, turn * kTiles);
      for (int g = 0; g < kGroups; ++g) {
        prefetch_part<kRecordBytes>(record, turn * kGroups + g, kTurns * kGroups);
        advance_group<V, F, kTiles, kTokens>(scales, g, x, block * kGroups + g, acc[turn]);
      }
    }
  }
  for (int turn = 0; turn < kTurns; ++turn) {
#pragma GCC unroll 4
    for (int r = 0; r < kTiles; ++r) {
#pragma GCC unroll 8
      for (int n = 0; n < kTokens; ++n) {
        store_outputs<V>(args, pair * kPairRows + (turn * kTiles + r) * kTileRows, token + n, acc[turn][r][n]);
      }
    }
  }
}

// The sums of one chunk of values [begin, end) of float weights. Not inlined: its sums take all registers.
template <class V, class F, int kTiles, int kTokens>
[[gnu::noinline]] void sum_chunk(const std::byte* record, const float* const (&x)[kTokens], int begin, int end,
                                 typename V::F32x16 (&sums)[kTiles][kTokens]) {
  constexpr int kRowBytes = kTileRows * F::kInfo.block_bytes;
  typename V::F32x16 a[kTiles][kTokens];
#pragma GCC unroll 8
  for (int n = 0; n < kTokens; ++n) {
    for (int r = 0; r < kTiles; ++r) a[r][n] = V::set(0);
  }
  for (int k = begin; k < end; ++k, record += 2 * kRowBytes) {
    for (int line = 0; line < 2 * kRowBytes; line += 64) __builtin_prefetch(record + kPrefetchBytes + line);
    typename V::F32x16 w[kTiles];
    for (int r = 0; r < kTiles; ++r) w[r] = widen16<V, F>(record + r * kRowBytes);
#pragma GCC unroll 8
    for (int n = 0; n < kTokens; ++n) {
      const typename V::F32x16 value = V::set(x[n][k]);
      for (int r = 0; r < kTiles; ++r) a[r][n] = V::fma(w[r], value, a[r][n]);
    }
  }
#pragma GCC unroll 8
  for (int n = 0; n < kTokens; ++n) {
    for (int r = 0; r < kTiles; ++r) sums[r][n] = a[r][n];
  }
}

// Float weights: chunks of 256 values, each summed on its own.
template <class V, class F, int kTokens>
void direct_float(const LinearArgs& args, const std::byte* record, int pair, int token) {
  constexpr int kRowBytes = kTileRows * F::kInfo.block_bytes, kChunk = 256;
  constexpr int kTiles = kDirectTiles<V, kTokens>, kTurns = 2 / kTiles;
  typename V::F32x16 y[kTurns][kTiles][kTokens], sums[kTiles][kTokens];
  const float* x[kTokens];
  for (int n = 0; n < kTokens; ++n) {
    x[n] = args.x + input_row(args, token + n) * args.x_stride;
    for (int turn = 0; turn < kTurns; ++turn) {
      for (int r = 0; r < kTiles; ++r) y[turn][r][n] = V::set(0);
    }
  }
  for (int begin = 0; begin < args.cols; begin += kChunk) {
    const int end = begin + kChunk < args.cols ? begin + kChunk : args.cols;
    for (int turn = 0; turn < kTurns; ++turn) {
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(begin) * 2 + turn * kTiles;
      sum_chunk<V, F, kTiles, kTokens>(record + at * kRowBytes, x, begin, end, sums);
      for (int n = 0; n < kTokens; ++n) {
        for (int r = 0; r < kTiles; ++r) y[turn][r][n] = V::add(y[turn][r][n], sums[r][n]);
      }
    }
  }
  for (int turn = 0; turn < kTurns; ++turn) {
    for (int r = 0; r < kTiles; ++r) {
      for (int n = 0; n < kTokens; ++n) {
        store_outputs<V>(args, pair * kPairRows + (turn * kTiles + r) * kTileRows, token + n, y[turn][r][n]);
      }
    }
  }
}

// One pair and `tokens` tokens, at most kTokens.
template <class V, class F, int kTokens>
[[gnu::always_inline]] inline void direct_tokens(const LinearArgs& args, const std::byte* record, int pair, int token,
                                                 int tokens) {
  if constexpr (kTokens > 1) {
    if (tokens < kTokens) return direct_tokens<V, F, kTokens - 1>(args, record, pair, token, tokens);
  }
  if constexpr (F::kInfo.is_float) {
    direct_float<V, F, kTokens>(args, record, pair, token);
  } else {
    direct<V, F, kTokens>(args, record, pair, token);
  }
}

// Tokens are taken in blocks whose activations stay in the second level of the cache while the weights pass by, and
// within a block in tiles of nearly equal size.
template <class V, class F, int kTokens>
[[gnu::always_inline]] inline void linear_pairs(const LinearArgs& args, int input_bytes) {
  constexpr int kActivationBytes = 512 * 1024;
  const std::size_t pair_bytes = packed_pair_bytes(F::kInfo, args.cols);
  int block = kActivationBytes / input_bytes / kTokens * kTokens;
  if (block < kTokens) block = kTokens;
  for (int begin = 0; begin < args.tokens; begin += block) {
    const int count = args.tokens - begin < block ? args.tokens - begin : block;
    const int cuts = (count + kTokens - 1) / kTokens;
    for (int pair = args.pair_begin; pair < args.pair_end; ++pair) {
      const std::byte* record = args.weights + static_cast<std::size_t>(pair - args.pair_begin) * pair_bytes;
      for (int cut = 0; cut < cuts; ++cut) {
        const int first = count * cut / cuts, last = count * (cut + 1) / cuts;
        direct_tokens<V, F, kTokens>(args, record, pair, begin + first, last - first);
      }
    }
  }
}

template <class V, class F>
void linear_direct(const LinearArgs& args) {
  constexpr int kTokens = V::kDirectTokens - (F::kInfo.scales_per_group == 2 && V::kDirectTokens > 1 ? 1 : 0);
  linear_pairs<V, F, kTokens>(args, activation_stride(args.cols) * static_cast<int>(sizeof(ActivationGroup)));
}

template <class V, class F>
void linear_float(const LinearArgs& args) {
  linear_pairs<V, F, V::kFloatTokens>(args, args.cols * static_cast<int>(sizeof(float)));
}

}  // namespace plait
