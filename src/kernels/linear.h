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
#include "kernels/linear_fine.h"
#include "kernels/linear_group.h"
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

// The outputs of a pair of tiles, times kTokens tokens from `token` on.
template <class V, int kTurns, int kTiles, int kTokens>
[[gnu::always_inline]] inline void store_pair(const LinearArgs& args, int pair, int token,
                                              const typename V::F32x16 (&y)[kTurns][kTiles][kTokens]) {
  for (int turn = 0; turn < kTurns; ++turn) {
#pragma GCC unroll 4
    for (int r = 0; r < kTiles; ++r) {
#pragma GCC unroll 8
      for (int n = 0; n < kTokens; ++n) {
        store_outputs<V>(args, pair * kPairRows + (turn * kTiles + r) * kTileRows, token + n, y[turn][r][n]);
      }
    }
  }
}

// One group with activations of so many planes.
template <int kPlanes, class V, class F, int kTiles, int kTokens>
[[gnu::always_inline]] inline void advance(const BlockScales<V, F, kTiles>& block, int g,
                                           const ActivationGroup* const (&x)[kTokens], int group,
                                           typename V::F32x16 (&acc)[kTiles][kTokens]) {
  if constexpr (kPlanes == 1) {
    advance_group<V, F, kTiles, kTokens>(block, g, x, group, acc);
  } else {
    advance_group_fine<V, F, kTiles, kTokens>(block, g, x, group, acc);
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

template <class V, int kTiles, int kTokens>
[[gnu::always_inline]] inline void copy_sums(const typename V::F32x16 (&from)[kTiles][kTokens],
                                             typename V::F32x16 (&to)[kTiles][kTokens]) {
#pragma GCC unroll 4
  for (int r = 0; r < kTiles; ++r) {
#pragma GCC unroll 8
    for (int n = 0; n < kTokens; ++n) to[r][n] = from[r][n];
  }
}

// One pair times kTokens tokens from `token` on, over all of K. The tiles take turns block by block, so that the pair
// comes from memory steadily.
template <class V, class F, int kPlanes, int kTokens>
void direct(const LinearArgs& args, const std::byte* record, int pair, int token) {
  constexpr int kRecordBytes = F::kInfo.block_bytes * kPairRows;
  constexpr int kGroups = F::kInfo.block_values / 32;
  constexpr int kTiles = kDirectTiles<V, kPlanes * kTokens>, kTurns = 2 / kTiles;
  const ActivationGroup* x[kTokens];
  typename V::F32x16 acc[kTurns][kTiles][kTokens];
#pragma GCC unroll 8
  for (int n = 0; n < kTokens; ++n) {
    x[n] = args.groups + input_row(args, token + n) * activation_stride(args.cols, kPlanes);
    for (int turn = 0; turn < kTurns; ++turn) {
      for (int r = 0; r < kTiles; ++r) acc[turn][r][n] = V::set(0);
    }
  }
  const int blocks = static_cast<int>(row_blocks(F::kInfo, args.cols));
  BlockScales<V, F, kTiles> scales;
  for (int block = 0; block < blocks; ++block, record += kRecordBytes) {
    for (int turn = 0; turn < kTurns; ++turn) {
      scales.read(record, turn * kTiles);
      typename V::F32x16 sums[kTiles][kTokens];  // Not in acc: they would be stored there with every group.
      copy_sums<V>(acc[turn], sums);
      for (int g = 0; g < kGroups; ++g) {
        prefetch_part<kRecordBytes>(record, turn * kGroups + g, kTurns * kGroups);
        advance<kPlanes, V, F>(scales, g, x, block * kGroups + g, sums);
      }
      copy_sums<V>(sums, acc[turn]);
    }
  }
  store_pair<V>(args, pair, token, acc);
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
  copy_sums<V>(a, sums);
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
  store_pair<V>(args, pair, token, y);
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
    direct<V, F, 1, kTokens>(args, record, pair, token);
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
  constexpr int kTokens = V::kDirectTokens - (F::kInfo.scales_per_group == 2 && V::kDirectTokens > 4 ? 1 : 0);
  linear_pairs<V, F, kTokens>(args, activation_stride(args.cols) * static_cast<int>(sizeof(ActivationGroup)));
}

// As linear_direct(). Tokens are taken half as many at a time as of 8 bits, and the rest one by one: each width of the
// kernel takes its time to compile.
template <class V, class F>
void linear_direct_fine(const LinearArgs& args) {
  constexpr int kTokens = (V::kDirectTokens + 1) / 2;
  constexpr int kActivationBytes = 512 * 1024;
  const std::size_t pair_bytes = packed_pair_bytes(F::kInfo, args.cols);
  const int input_bytes = activation_stride(args.cols, kFinePlanes) * static_cast<int>(sizeof(ActivationGroup));
  int block = kActivationBytes / input_bytes / kTokens * kTokens;
  if (block < kTokens) block = kTokens;
  for (int begin = 0; begin < args.tokens; begin += block) {
    const int end = args.tokens - begin < block ? args.tokens : begin + block;
    for (int pair = args.pair_begin; pair < args.pair_end; ++pair) {
      const std::byte* record = args.weights + static_cast<std::size_t>(pair - args.pair_begin) * pair_bytes;
      int token = begin;
      for (; token + kTokens <= end; token += kTokens) direct<V, F, kFinePlanes, kTokens>(args, record, pair, token);
      if constexpr (kTokens > 1) {
        for (; token < end; ++token) direct<V, F, kFinePlanes, 1>(args, record, pair, token);
      }
    }
  }
}

template <class V, class F>
void linear_float(const LinearArgs& args) {
  linear_pairs<V, F, V::kFloatTokens>(args, args.cols * static_cast<int>(sizeof(float)));
}

}  // namespace plait
