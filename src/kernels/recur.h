// The gated delta rule on the rows of one chunk of one head (anchored-recurrence.md 2 and 3). Tiles do not change bits.
#pragma once

#include "kernels/float_kernels.h"
#include "kernels/vector.h"

namespace plait {

constexpr int kOnePanel = 128;  // Columns of one row that are computed together.

// acc[r][w] += coef[r * row_stride + j * step] * b[j * ld + 16 w] for j ascending.
template <class V, int R, int W>
[[gnu::always_inline]] inline void rows_fma(typename V::F32x16 (&acc)[R][W], const float* coef,
                                            std::ptrdiff_t row_stride, std::ptrdiff_t step, const float* b,
                                            std::ptrdiff_t ld, int n) {
  for (int j = 0; j < n; ++j, b += ld, coef += step) {
    typename V::F32x16 row[W];
#pragma GCC unroll 16
    for (int w = 0; w < W; ++w) row[w] = V::load(b + 16 * w);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const typename V::F32x16 c = V::set(coef[r * row_stride]);
#pragma GCC unroll 16
      for (int w = 0; w < W; ++w) acc[r][w] = V::fma(c, row[w], acc[r][w]);
    }
  }
}

template <class V, int R, int W>
[[gnu::always_inline]] inline void clear(typename V::F32x16 (&acc)[R][W]) {
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
    for (int w = 0; w < W; ++w) acc[r][w] = V::set(0.0f);
  }
}

template <class V, int R, int W>
[[gnu::always_inline]] inline void scale_rows(typename V::F32x16 (&acc)[R][W], const float* z) {
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
    const typename V::F32x16 factor = V::set(z[r]);
#pragma GCC unroll 16
    for (int w = 0; w < W; ++w) acc[r][w] = V::mul(factor, acc[r][w]);
  }
}

// u = beta * (v - x) of one row: stored, and left in x.
template <class V, int W>
[[gnu::always_inline]] inline void finish_update(const RecurRowsArgs& a, int row, int col, typename V::F32x16 (&x)[W]) {
  const typename V::F32x16 beta = V::set(a.beta[static_cast<std::ptrdiff_t>(row) * a.beta_stride]);
  const float* const v = a.v + row * a.v_stride + col;
  float* const u = a.u + static_cast<std::ptrdiff_t>(a.first + row) * a.value_dim + col;
#pragma GCC unroll 16
  for (int w = 0; w < W; ++w) {
    x[w] = V::mul(beta, V::sub(V::load(v + 16 * w), x[w]));
    V::store(u + 16 * w, x[w]);
  }
}

// Rows [row, row + R) of the args, columns [col, col + 16 W): keys over the anchor and the rows before; each update,
// taken from the rows after it; queries the same way.
template <class V, int R, int W>
void recur_tile(const RecurRowsArgs& a, int row, int col) {
  using F = typename V::F32x16;
  const int before = a.first + row;  // Rows of the chunk before this tile.
  const float* const c = a.c + row * kChunkRows;
  const float* const d = a.d + row * kChunkRows;
  F x[R][W];
  clear<V>(x);
  if (a.anchor != nullptr) {
    rows_fma<V>(x, a.k + static_cast<std::ptrdiff_t>(before) * a.key_dim, a.key_dim, 1, a.anchor + col, a.value_dim,
                a.key_dim);
    scale_rows<V>(x, a.z + row);
  }
  rows_fma<V>(x, c, kChunkRows, 1, a.u + col, a.value_dim, before);
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
    finish_update<V>(a, row + r, col, x[r]);
#pragma GCC unroll 16
    for (int later = r + 1; later < R; ++later) {
      const F factor = V::set(c[later * kChunkRows + before + r]);
#pragma GCC unroll 16
      for (int w = 0; w < W; ++w) x[later][w] = V::fma(factor, x[r][w], x[later][w]);
    }
  }
  F y[R][W];
  clear<V>(y);
  if (a.anchor != nullptr) {
    rows_fma<V>(y, a.q + row * a.q_stride, a.q_stride, 1, a.anchor + col, a.value_dim, a.key_dim);
    scale_rows<V>(y, a.z + row);
  }
  rows_fma<V>(y, d, kChunkRows, 1, a.u + col, a.value_dim, before);
  const float* const u = a.u + static_cast<std::ptrdiff_t>(before) * a.value_dim + col;
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
    for (int j = 0; j <= r; ++j) {
      const F factor = V::set(d[r * kChunkRows + before + j]);
#pragma GCC unroll 16
      for (int w = 0; w < W; ++w) y[r][w] = V::fma(factor, V::load(u + j * a.value_dim + 16 * w), y[r][w]);
    }
#pragma GCC unroll 16
    for (int w = 0; w < W; ++w) V::store(a.out + (row + r) * a.out_stride + col + 16 * w, y[r][w]);
  }
}

// acc = the sums as they stand, plus `n` rows from b on, keys and queries together; stored again.
template <class V, int W>
[[gnu::always_inline]] inline void add_rows(float* sums, const float* k, const float* q, const float* b,
                                            std::ptrdiff_t ld, int n) {
  using F = typename V::F32x16;
  F acc[2][W];
#pragma GCC unroll 16
  for (int w = 0; w < W; ++w) {
    acc[0][w] = V::load(sums + 16 * w);
    acc[1][w] = V::load(sums + kOnePanel + 16 * w);
  }
  for (int i = 0; i < n; ++i, b += ld) {
    const F key = V::set(k[i]), query = V::set(q[i]);
#pragma GCC unroll 16
    for (int w = 0; w < W; ++w) {
      const F s = V::load(b + 16 * w);
      acc[0][w] = V::fma(key, s, acc[0][w]);
      acc[1][w] = V::fma(query, s, acc[1][w]);
    }
  }
#pragma GCC unroll 16
  for (int w = 0; w < W; ++w) {
    V::store(sums + 16 * w, acc[0][w]);
    V::store(sums + kOnePanel + 16 * w, acc[1][w]);
  }
}

template <class V, int W>
[[gnu::always_inline]] inline void add_row_tiles(float* sums, const float* k, const float* q, const float* b,
                                                 std::ptrdiff_t ld, int n, int columns) {
  int c = 0;
  for (; c + 16 * W <= columns; c += 16 * W) add_rows<V, W>(sums + c, k, q, b + c, ld, n);
  for (; c < columns; c += 16) add_rows<V, 1>(sums + c, k, q, b + c, ld, n);
}

// One row: its key and its query share each load of the anchor. Where registers do not hold a panel's sums, a few rows
// of the anchor are taken at a time, so that it is read from front to back.
template <class V>
void recur_one(const RecurRowsArgs& a, int row, int col, int end) {
  using F = typename V::F32x16;
  constexpr int W = V::kRecurTile / 2, kRows = 16 * W >= kOnePanel ? 1 << 20 : 16;
  const int before = a.first + row, columns = end - col;
  alignas(64) float sums[2 * kOnePanel];
  for (int c = 0; c < columns; c += 16) {
    V::store(sums + c, V::set(0.0f));
    V::store(sums + kOnePanel + c, V::set(0.0f));
  }
  if (a.anchor != nullptr) {
    const float* const k = a.k + static_cast<std::ptrdiff_t>(before) * a.key_dim;
    const float* const q = a.q + row * a.q_stride;
    for (int i = 0; i < a.key_dim; i += kRows) {
      const int n = a.key_dim - i < kRows ? a.key_dim - i : kRows;
      const float* const b = a.anchor + static_cast<std::ptrdiff_t>(i) * a.value_dim + col;
      add_row_tiles<V, W>(sums, k + i, q + i, b, a.value_dim, n, columns);
      if constexpr (16 * W >= kOnePanel) break;
    }
    const F z = V::set(a.z[row]);
    for (int c = 0; c < columns; c += 16) {
      V::store(sums + c, V::mul(z, V::load(sums + c)));
      V::store(sums + kOnePanel + c, V::mul(z, V::load(sums + kOnePanel + c)));
    }
  }
  const float *const c_row = a.c + row * kChunkRows, *const d_row = a.d + row * kChunkRows;
  add_row_tiles<V, W>(sums, c_row, d_row, a.u + col, a.value_dim, before, columns);
  const F last = V::set(d_row[before]);
  float* const out = a.out + row * a.out_stride + col;
  for (int c = 0; c < columns; c += 16) {
    F x[1] = {V::load(sums + c)};
    finish_update<V>(a, row, col + c, x);
    V::store(out + c, V::fma(last, x[0], V::load(sums + kOnePanel + c)));
  }
}

// The columns [col, end) of R rows, in tiles of W vectors and then of fewer.
template <class V, int R, int W>
void recur_columns(const RecurRowsArgs& a, int row, int col, int end) {
  for (; col + 16 * W <= end; col += 16 * W) recur_tile<V, R, W>(a, row, col);
  if constexpr (W > 1) {
    if (col < end) recur_columns<V, R, W / 2>(a, row, col, end);
  }
}

// S1 = E * S0 + sum of w_j u_j over the whole chunk, columns [col, col + 16 W).
template <class V, int R, int W>
void fold_tile(const RecurRowsArgs& a, int i, int col) {
  typename V::F32x16 acc[R][W];
  clear<V>(acc);
  if (a.anchor != nullptr) {
    const typename V::F32x16 e = V::set(a.e);
    const float* const from = a.anchor + static_cast<std::ptrdiff_t>(i) * a.value_dim + col;
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
      for (int w = 0; w < W; ++w) acc[r][w] = V::mul(e, V::load(from + r * a.value_dim + 16 * w));
    }
  }
  rows_fma<V>(acc, a.w + i, 1, a.key_dim, a.u + col, a.value_dim, kChunkRows);
  float* const to = a.fold + static_cast<std::ptrdiff_t>(i) * a.value_dim + col;
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
    for (int w = 0; w < W; ++w) V::store(to + r * a.value_dim + 16 * w, acc[r][w]);
  }
}

// Rows outside, so that both states are walked from front to back.
template <class V, int R, int W>
void fold_columns(const RecurRowsArgs& a, int begin, int end) {
  for (int i = 0; i < a.key_dim; i += R) {
    int col = begin;
    for (; col + 16 * W <= end; col += 16 * W) fold_tile<V, R, W>(a, i, col);
    for (; col < end; col += 16) fold_tile<V, R, 1>(a, i, col);
  }
}

// Accumulators that fit into the registers, in sixteens.
template <class V>
constexpr int kRecurTile = V::kRecurTile;

template <class V, int R>
void recur_some(const RecurRowsArgs& a, int& row, int col, int end) {
  constexpr int kWide = kRecurTile<V> / R;
  if constexpr (kWide >= 1) {
    for (; row + R <= a.count; row += R) recur_columns<V, R, kWide>(a, row, col, end);
  }
}

// Many rows go through the chunk by panels of columns, so that the anchor's part of a panel stays in the first cache.
template <class V>
void recur_rows(const RecurRowsArgs& a) {
  constexpr int kPanel = 32;
  const int panel = a.count >= 8 ? kPanel : a.value_dim;
  for (int col = 0; col < a.value_dim; col += panel) {
    const int end = col + panel < a.value_dim ? col + panel : a.value_dim;
    int row = 0;
    recur_some<V, 8>(a, row, col, end);
    recur_some<V, 4>(a, row, col, end);
    recur_some<V, 2>(a, row, col, end);
    for (; row < a.count; ++row) {
      for (int part = col; part < end; part += kOnePanel) {
        recur_one<V>(a, row, part, end - part < kOnePanel ? end : part + kOnePanel);
      }
    }
    if (a.fold != nullptr) fold_columns<V, kRecurTile<V> / 2, 2>(a, col, end);
  }
}

// p[t][j] = dot16(k_t, k_j) and r[t][j] = dot16(q_t, k_j), for rows t of the args and all j <= t; others may be
// anything. T rows by J keys at once.
template <class V, int T, int J>
[[gnu::always_inline]] inline void pair_tile(const RecurPairsArgs& a, int row, int j) {
  using F = typename V::F32x16;
  F sums[T * 2 * J];
#pragma GCC unroll 16
  for (int n = 0; n < T * 2 * J; ++n) sums[n] = V::set(0.0f);
  for (int i = 0; i < a.key_dim; i += 16) {
    F keys[J];
#pragma GCC unroll 16
    for (int n = 0; n < J; ++n) keys[n] = V::load(a.k + static_cast<std::ptrdiff_t>(j + n) * a.key_dim + i);
#pragma GCC unroll 16
    for (int t = 0; t < T; ++t) {
      const F k = V::load(a.k + static_cast<std::ptrdiff_t>(a.first + row + t) * a.key_dim + i);
      const F q = V::load(a.q + (row + t) * a.q_stride + i);
#pragma GCC unroll 16
      for (int n = 0; n < J; ++n) {
        sums[(2 * t) * J + n] = V::fma(k, keys[n], sums[(2 * t) * J + n]);
        sums[(2 * t + 1) * J + n] = V::fma(q, keys[n], sums[(2 * t + 1) * J + n]);
      }
    }
  }
  float totals[T * 2 * J];
  if constexpr (T * 2 * J == 16) {
    V::store(totals, V::tree16(sums));
  } else {
#pragma GCC unroll 16
    for (int n = 0; n < T * 2 * J; ++n) totals[n] = V::tree(sums[n]);
  }
#pragma GCC unroll 16
  for (int t = 0; t < T; ++t) {
#pragma GCC unroll 16
    for (int n = 0; n < J; ++n) {
      a.p[(row + t) * kChunkRows + j + n] = totals[(2 * t) * J + n];
      a.r[(row + t) * kChunkRows + j + n] = totals[(2 * t + 1) * J + n];
    }
  }
}

template <class V>
void recur_pairs(const RecurPairsArgs& a) {
  constexpr int kRows = V::kRecurTile >= 16 ? 2 : 1, kKeys = V::kRecurTile >= 16 ? 4 : 2;
  int row = 0;
  for (; row + kRows <= a.count; row += kRows) {
    for (int j = 0; j <= a.first + row + kRows - 1; j += kKeys) pair_tile<V, kRows, kKeys>(a, row, j);
  }
  for (; row < a.count; ++row) {
    for (int j = 0; j <= a.first + row; j += kKeys) pair_tile<V, 1, kKeys>(a, row, j);
  }
}

}  // namespace plait
