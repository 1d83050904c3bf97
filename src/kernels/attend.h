// Softmax attention over blocks of rows (linear-kernels.md 7.3): scores, softmax, weighted values, merging.
// Lanes are rows while scores are made and columns while values are summed, so no sum crosses lanes but tree().
#pragma once

#include <cstddef>

#include "kernels/float_kernels.h"
#include "kernels/rows.h"
#include "kernels/vector.h"

namespace plait {

// Sums that registers hold at once, beside the operands.
template <class V>
inline constexpr int kAttendSums = V::kFloatTokens >= 8 ? 16 : 6;
// Queries of one call of scores().
template <class V>
inline constexpr int kAttendQueries = kAttendSums<V> >= 16 ? kMaxAttendQueries : 6;

// Few queries are bound by reading rows: what the next blocks hold is fetched while these are worked on.
constexpr int kFetchingQueries = 4;

// ---------------------------------------------------------------- scores

// kQueries x kBlocks sums, each one chain over the width.
template <class V, class Rows, int kQueries, int kBlocks>
[[gnu::always_inline]] inline void score_tile(const ScoreArgs& args, int block) {
  using F = typename V::F32x16;
  F s[kQueries][kBlocks];
#pragma GCC unroll 8
  for (int q = 0; q < kQueries; ++q) {
#pragma GCC unroll 8
    for (int b = 0; b < kBlocks; ++b) s[q][b] = V::set(0.0f);
  }
  const std::byte* keys[kBlocks];
  const std::byte* next[kBlocks];
#pragma GCC unroll 8
  for (int b = 0; b < kBlocks; ++b) {
    const int after = block + kAttendAhead + b;
    keys[b] = args.keys[block + b];
    next[b] = args.keys[after < args.known ? after : args.known - 1];
  }
  const std::ptrdiff_t dim = args.dim;
  const float* query = args.q;
  for (std::ptrdiff_t i = 0; i < dim; ++i, ++query) {
    const std::ptrdiff_t at = i * (kAttendBlock * Rows::kBytes);
    if constexpr (kQueries <= kFetchingQueries) {
      if (at % 64 == 0) {
#pragma GCC unroll 8
        for (int b = 0; b < kBlocks; ++b) __builtin_prefetch(next[b] + at);
      }
    }
    F k[kBlocks];
#pragma GCC unroll 8
    for (int b = 0; b < kBlocks; ++b) k[b] = Rows::template load16<V>(keys[b] + at);
#pragma GCC unroll 8
    for (int q = 0; q < kQueries; ++q) {
      const F x = V::set(query[q * dim]);
#pragma GCC unroll 8
      for (int b = 0; b < kBlocks; ++b) s[q][b] = V::fma(x, k[b], s[q][b]);
    }
  }
#pragma GCC unroll 8
  for (int q = 0; q < kQueries; ++q) {
    float* const to = args.scores + static_cast<std::ptrdiff_t>(q) * args.stride + kAttendBlock * block;
#pragma GCC unroll 8
    for (int b = 0; b < kBlocks; ++b) V::store(to + kAttendBlock * b, s[q][b]);
  }
}

// As many blocks at once as registers allow, then fewer.
template <class V, class Rows, int kQueries, int kBlocks>
void score_blocks(const ScoreArgs& args, int block) {
  for (; block + kBlocks <= args.blocks; block += kBlocks) score_tile<V, Rows, kQueries, kBlocks>(args, block);
  if constexpr (kBlocks > 1) {
    if (block < args.blocks) score_blocks<V, Rows, kQueries, kBlocks / 2>(args, block);
  }
}

template <class V>
constexpr int score_blocks_at_once(int queries) {
  int blocks = 8;
  while (blocks > 1 && blocks * queries > kAttendSums<V>) blocks /= 2;
  return blocks;
}

template <class V, class Rows, int kQueries = kAttendQueries<V>>
void scores(const ScoreArgs& args) {
  if (args.queries == kQueries) {
    score_blocks<V, Rows, kQueries, score_blocks_at_once<V>(kQueries)>(args, 0);
  } else if constexpr (kQueries > 1) {
    scores<V, Rows, kQueries - 1>(args);
  }
}

// ---------------------------------------------------------------- softmax

// Applies the soft cap and hides what is not visible; leaves the maximum of each block.
template <class V>
void cap_and_hide(const SoftmaxArgs& args, float* maxima) {
  using F = typename V::F32x16;
  const F cap = V::set(args.soft_cap), hidden = V::set(-__builtin_inff());
  for (int b = 0; b < args.blocks; ++b) {
    float* const at = args.scores + kAttendBlock * b;
    F s = V::load(at);
    if (args.soft_cap != 0) s = V::mul(cap, tanh16<V>(V::div(s, cap)));
    const int first = args.first - kAttendBlock * b, last = args.last - kAttendBlock * b;
    if (last < kAttendBlock) s = V::select(V::first(last), s, hidden);
    if (first > 0) s = V::select(V::first(first), hidden, s);
    if (args.soft_cap != 0 || last < kAttendBlock || first > 0) V::store(at, s);
    maxima[b] = V::max_across(s);
  }
}

// exp of what is not positive, or NaN: the same bits as exp16, with one comparison. (round_to_int gives a NaN no low
// bits, so the shift leaves the NaN as it is.)
template <class V>
[[gnu::always_inline]] inline typename V::F32x16 exp_not_positive16(typename V::F32x16 x) {
  return V::select(V::less(x, V::set(kExpLeast)), V::set(0.0f), exp_unlimited16<V>(x));
}

// Weights of up to sixteen blocks in place of their scores, and the sum of each.
template <class V>
[[gnu::always_inline]] inline void weigh_scores(float* scores, const float* maxima, int blocks, float* sums) {
  using F = typename V::F32x16;
  if (blocks == 16) {
    F w[16];
#pragma GCC unroll 16
    for (int b = 0; b < 16; ++b) {
      w[b] = exp_not_positive16<V>(V::sub(V::load(scores + kAttendBlock * b), V::set(maxima[b])));
      V::store(scores + kAttendBlock * b, w[b]);
    }
    V::store(sums, V::tree16(w));
    return;
  }
  for (int b = 0; b < blocks; ++b) {
    const F w = exp_not_positive16<V>(V::sub(V::load(scores + kAttendBlock * b), V::set(maxima[b])));
    V::store(scores + kAttendBlock * b, w);
    sums[b] = V::tree(w);
  }
}

template <class V>
void softmax(const SoftmaxArgs& args) {
  float maxima[kAttendPartBlocks], drops[kAttendPartBlocks] = {}, sums[kAttendPartBlocks];
  cap_and_hide<V>(args, maxima);
  const int blocks = args.blocks;
  float m = -__builtin_inff();
  for (int b = 0; b < blocks; ++b) {
    const float most = m > maxima[b] ? m : maxima[b];
    drops[b] = m - most;
    maxima[b] = m = most;
  }
  for (int b = 0; b < blocks; b += 16) {
    V::store(args.rescale + b, exp_not_positive16<V>(V::load(drops + b)));
    weigh_scores<V>(args.scores + kAttendBlock * b, maxima + b, blocks - b < 16 ? blocks - b : 16, sums + b);
  }
  float l = 0;
  for (int b = 0; b < blocks; ++b) l = __builtin_fmaf(l, args.rescale[b], sums[b]);
  *args.maximum = m;
  *args.sum = l;
}

// ---------------------------------------------------------------- weighted values

// Some queries of a WeighArgs, a range of blocks and of the rows in each.
struct WeighTile {
  const float* weights;
  const float* rescale;
  float* const* out;
  int first_block, last_block;
  int first_row, last_row;
};

// kColumns * 16 columns of kQueries queries; sums stay in registers over all blocks. `kRescale`: each block's rescale
// comes first.
template <class V, class Rows, int kQueries, int kColumns, bool kRescale>
[[gnu::always_inline]] inline void weigh_tile(const WeighArgs& args, const WeighTile& tile, int column) {
  using F = typename V::F32x16;
  F o[kQueries][kColumns];
#pragma GCC unroll 8
  for (int q = 0; q < kQueries; ++q) {
#pragma GCC unroll 8
    for (int c = 0; c < kColumns; ++c) o[q][c] = V::load(tile.out[q] + column + 16 * c);
  }
  const std::ptrdiff_t row_bytes = static_cast<std::ptrdiff_t>(args.dim) * Rows::kBytes;
  for (int b = tile.first_block; b < tile.last_block; ++b) {
    if constexpr (kRescale) {
#pragma GCC unroll 8
      for (int q = 0; q < kQueries; ++q) {
        const F by = V::set(tile.rescale[q * kAttendRescales + b]);
#pragma GCC unroll 8
        for (int c = 0; c < kColumns; ++c) o[q][c] = V::mul(o[q][c], by);
      }
    }
    const std::byte* row = args.values[b] + tile.first_row * row_bytes + column * Rows::kBytes;
    const int after = b + kAttendAhead < args.known ? b + kAttendAhead : args.known - 1;
    const std::byte* next = args.values[after] + tile.first_row * row_bytes + column * Rows::kBytes;
    const float* weight = tile.weights + kAttendBlock * b + tile.first_row;
    for (int j = tile.first_row; j < tile.last_row; ++j, row += row_bytes, ++weight) {
      if constexpr (kRescale && kQueries <= kFetchingQueries) {  // Blocks that are read whole.
        for (int line = 0; line < 16 * Rows::kBytes * kColumns; line += 64) __builtin_prefetch(next + line);
        next += row_bytes;
      }
      F v[kColumns];
#pragma GCC unroll 8
      for (int c = 0; c < kColumns; ++c) v[c] = Rows::template load16<V>(row + 16 * Rows::kBytes * c);
#pragma GCC unroll 8
      for (int q = 0; q < kQueries; ++q) {
        const F w = V::set(weight[static_cast<std::ptrdiff_t>(q) * args.stride]);
#pragma GCC unroll 8
        for (int c = 0; c < kColumns; ++c) o[q][c] = V::fma(w, v[c], o[q][c]);
      }
    }
  }
#pragma GCC unroll 8
  for (int q = 0; q < kQueries; ++q) {
#pragma GCC unroll 8
    for (int c = 0; c < kColumns; ++c) V::store(tile.out[q] + column + 16 * c, o[q][c]);
  }
}

// The last columns, fewer than sixteen, of one query.
template <class V, class Rows, bool kRescale>
void weigh_rest(const WeighArgs& args, const WeighTile& tile, int query, int column) {
  using F = typename V::F32x16;
  const int left = args.dim - column;
  F o = V::load_partial(tile.out[query] + column, left);
  for (int b = tile.first_block; b < tile.last_block; ++b) {
    if constexpr (kRescale) o = V::mul(o, V::set(tile.rescale[query * kAttendRescales + b]));
    for (int j = tile.first_row; j < tile.last_row; ++j) {
      alignas(64) std::byte sixteen[16 * Rows::kBytes] = {};
      const std::byte* const row = args.values[b] + static_cast<std::ptrdiff_t>(j * args.dim + column) * Rows::kBytes;
      __builtin_memcpy(sixteen, row, static_cast<std::size_t>(left) * Rows::kBytes);
      const float w = tile.weights[static_cast<std::ptrdiff_t>(query) * args.stride + kAttendBlock * b + j];
      o = V::fma(V::set(w), Rows::template load16<V>(sixteen), o);
    }
  }
  V::store_partial(tile.out[query] + column, o, left);
}

template <class V, class Rows, int kQueries, int kColumns, bool kRescale>
void weigh_columns(const WeighArgs& args, const WeighTile& tile, int column) {
  for (; column + 16 * kColumns <= args.dim; column += 16 * kColumns) {
    weigh_tile<V, Rows, kQueries, kColumns, kRescale>(args, tile, column);
  }
  if (column == args.dim) return;
  if constexpr (kColumns > 1) {
    weigh_columns<V, Rows, kQueries, kColumns / 2, kRescale>(args, tile, column);
  } else {
    for (int q = 0; q < kQueries; ++q) weigh_rest<V, Rows, kRescale>(args, tile, q, column);
  }
}

// Rows [first, last) of one query within one block, without its rescale.
template <class V, class Rows>
void weigh_rows(const WeighArgs& args, int query, int block, int first, int last) {
  if (first >= last) return;
  const WeighTile tile{args.weights + static_cast<std::ptrdiff_t>(query) * args.stride,
                       nullptr,
                       args.out + query,
                       block,
                       block + 1,
                       first,
                       last};
  weigh_columns<V, Rows, 1, 8, false>(args, tile, 0);
}

// A block that some of the queries see only in part, or not at all: what all see in one go, the rest one by one.
template <class V, class Rows, int kQueries, int kColumns>
void weigh_ragged(const WeighArgs& args, int query, int block) {
  int first[kQueries], last[kQueries];
  int all_first = 0, all_last = kAttendBlock;
  for (int q = 0; q < kQueries; ++q) {
    first[q] = args.first[query + q] - kAttendBlock * block;
    last[q] = args.last[query + q] - kAttendBlock * block;
    first[q] = first[q] < 0 ? 0 : first[q];
    last[q] = last[q] > kAttendBlock ? kAttendBlock : last[q];
    all_first = first[q] > all_first ? first[q] : all_first;
    all_last = last[q] < all_last ? last[q] : all_last;
    if (first[q] >= last[q]) continue;
    const float by = args.rescale[(query + q) * kAttendRescales + block];
    scale_vector<V>(args.out[query + q], by, args.out[query + q], args.dim);
  }
  if (all_first >= all_last) {
    for (int q = 0; q < kQueries; ++q) weigh_rows<V, Rows>(args, query + q, block, first[q], last[q]);
    return;
  }
  for (int q = 0; q < kQueries; ++q) weigh_rows<V, Rows>(args, query + q, block, first[q], all_first);
  const WeighTile tile{args.weights + static_cast<std::ptrdiff_t>(query) * args.stride,
                       nullptr,
                       args.out + query,
                       block,
                       block + 1,
                       all_first,
                       all_last};
  weigh_columns<V, Rows, kQueries, kColumns, false>(args, tile, 0);
  for (int q = 0; q < kQueries; ++q) weigh_rows<V, Rows>(args, query + q, block, all_last, last[q]);
}

// kQueries queries from `query` on: first the blocks before the range that all see whole, then that range, then the
// rest.
template <class V, class Rows, int kQueries, int kColumns>
void weigh_queries(const WeighArgs& args, int query) {
  int first = args.first[query], last = args.last[query], all_first = first, all_last = last;
  for (int q = 0; q < kQueries; ++q) {
    const int f = args.first[query + q], l = args.last[query + q];
    first = f < first ? f : first;
    last = l > last ? l : last;
    all_first = f > all_first ? f : all_first;
    all_last = l < all_last ? l : all_last;
    if (f < l && !args.add) {
      for (int i = 0; i < args.dim; ++i) args.out[query + q][i] = 0;
    }
  }
  const int begin = first / kAttendBlock, end = (last + kAttendBlock - 1) / kAttendBlock;
  int whole_begin = (all_first + kAttendBlock - 1) / kAttendBlock, whole_end = all_last / kAttendBlock;
  if (whole_begin >= whole_end) whole_begin = whole_end = end;
  for (int b = begin; b < whole_begin; ++b) weigh_ragged<V, Rows, kQueries, kColumns>(args, query, b);
  if (whole_begin < whole_end) {
    const WeighTile tile{args.weights + static_cast<std::ptrdiff_t>(query) * args.stride,
                         args.rescale + query * kAttendRescales,
                         args.out + query,
                         whole_begin,
                         whole_end,
                         0,
                         kAttendBlock};
    weigh_columns<V, Rows, kQueries, kColumns, true>(args, tile, 0);
  }
  for (int b = whole_end; b < end; ++b) weigh_ragged<V, Rows, kQueries, kColumns>(args, query, b);
}

// Six queries and four columns of sixteen where registers allow; two of two, else.
template <class V, class Rows>
void weigh(const WeighArgs& args) {
  constexpr bool kMany = kAttendSums<V> >= 16;
  int query = 0;
  if constexpr (kMany) {
    for (; query + 6 <= args.queries; query += 6) weigh_queries<V, Rows, 6, 4>(args, query);
    if (query + 4 <= args.queries) {
      weigh_queries<V, Rows, 4, 4>(args, query);
      query += 4;
    }
    if (query + 3 == args.queries) {
      weigh_queries<V, Rows, 3, 4>(args, query);
      return;
    }
  }
  for (; query + 2 <= args.queries; query += 2) weigh_queries<V, Rows, 2, kMany ? 8 : 2>(args, query);
  if (query < args.queries) weigh_queries<V, Rows, 1, kMany ? 8 : 4>(args, query);
}

// ---------------------------------------------------------------- merging

template <class V>
void merge(AttendShare& all, const AttendShare& later, int dim) {
  using F = typename V::F32x16;
  const float most = all.maximum > later.maximum ? all.maximum : later.maximum;
  const float a = exp1<V>(all.maximum - most), b = exp1<V>(later.maximum - most);
  all.maximum = most;
  all.sum = __builtin_fmaf(later.sum, b, all.sum * a);
  const F scale = V::set(a), weight = V::set(b);
  for (int i = 0; i < dim; i += 16) {
    const int left = dim - i < 16 ? dim - i : 16;
    const F o = later.values == nullptr ? V::set(0.0f) : V::load_partial(later.values + i, left);
    V::store_partial(all.values + i, V::fma(o, weight, V::mul(V::load_partial(all.values + i, left), scale)), left);
  }
}

}  // namespace plait
