// Weight times activation for many tokens, where unpacking the codes is costly: a panel of the weights is expanded once
// into the first level of the cache, and all tokens run over it (linear-kernels.md 5). The chain of an output goes on
// from panel to panel, so the bits are those of the direct kernel.
#pragma once

#include "kernels/linear.h"

namespace plait {

// Some tiles of 32 values a record, expanded: [tile][8 dwords][16 rows] codes, then [part][tile][16 rows] scales and,
// if there are any, mins. Codes are as the format's Tile gives them.
template <int kTiles, int kParts, bool kMins, int kCode>
struct Panel {
  static constexpr int kCodeBytes = kTiles * 512, kScaleBytes = kParts * kTiles * kTileRows * 4;
  static constexpr int kRecordBytes = kCodeBytes + kScaleBytes * (kMins ? 2 : 1);
  static constexpr FormatInfo kInfo{.name = "panel", .block_values = 32, .scales_per_group = kParts, .has_mins = kMins};
  static_assert(kPanelGroups * kRecordBytes <= kPanelBytes);

  template <class V>
  struct Tile {
    static constexpr int kMaxCode = kCode;

    [[gnu::always_inline]] static typename V::U8x64 codes(const std::byte* record, int tile, int /*g*/, int j) {
      return V::load_bytes(record + tile * 512 + j * 64);
    }
    [[gnu::always_inline]] static typename V::F32x16 scale(const std::byte* record, int tile, int /*g*/, int part) {
      return V::load(reinterpret_cast<const float*>(record + kCodeBytes) + (part * kTiles + tile) * kTileRows);
    }
    [[gnu::always_inline]] static typename V::F32x16 min(const std::byte* record, int tile, int /*g*/, int part) {
      return V::load(reinterpret_cast<const float*>(record + kCodeBytes + kScaleBytes) +
                     (part * kTiles + tile) * kTileRows);
    }
  };
};

// Groups [first, first + groups) of some pairs, `pair_bytes` apart.
template <class V, class F, class P, int kTiles>
void expand_panel(const std::byte* weights, std::size_t pair_bytes, int first, int groups, std::byte* panel) {
  using From = typename F::template Tile<V>;
  constexpr int kParts = F::kInfo.scales_per_group, kGroups = F::kInfo.block_values / 32;
  for (int group = first; group < first + groups; ++group, panel += P::kRecordBytes) {
    const int g = group % kGroups;
    const std::size_t at = static_cast<std::size_t>(group / kGroups) * (F::kInfo.block_bytes * kPairRows);
    for (int tile = 0; tile < kTiles; ++tile) {
      const std::byte* record = weights + static_cast<std::size_t>(tile / 2) * pair_bytes + at;
#pragma GCC unroll 8
      for (int j = 0; j < 8; ++j) V::store_bytes(panel + tile * 512 + j * 64, From::codes(record, tile % 2, g, j));
      for (int part = 0; part < kParts; ++part) {
        float* const scale = reinterpret_cast<float*>(panel + P::kCodeBytes) + (part * kTiles + tile) * kTileRows;
        V::store(scale, From::scale(record, tile % 2, g, part));
        if constexpr (requires { &From::offset; }) {
          V::store(scale + P::kScaleBytes / 4, V::sub(V::set(-0.0f), From::offset(record, tile % 2, g, part)));
        } else if constexpr (F::kInfo.has_mins) {
          V::store(scale + P::kScaleBytes / 4, From::min(record, tile % 2, g, part));
        }
      }
    }
  }
}

// One panel: which groups of the rows it has, and which rows it gives.
struct PanelPass {
  const std::byte* panel;
  int first, groups;  // Of all groups of a row.
  int row;            // Of the first tile.
  bool begins, ends;  // The chain.
};

// kTokens tokens from `token` on. `sums` [kTokens][kTiles][16] carries the chain between panels.
template <class V, class P, int kPlanes, int kTiles, int kTokens>
void panel_tokens(const LinearArgs& args, const PanelPass& pass, int token, float* sums) {
  const ActivationGroup* x[kTokens];
  typename V::F32x16 acc[kTiles][kTokens];
#pragma GCC unroll 8
  for (int n = 0; n < kTokens; ++n) {
    x[n] = args.groups + input_row(args, token + n) * activation_stride(args.cols, kPlanes);
#pragma GCC unroll 4
    for (int r = 0; r < kTiles; ++r) {
      acc[r][n] = pass.begins ? V::set(0) : V::load(sums + (n * kTiles + r) * kTileRows);
    }
  }
  const std::byte* record = pass.panel;
  for (int g = 0; g < pass.groups; ++g, record += P::kRecordBytes) {
    BlockScales<V, P, kTiles> scales;
    scales.read(record, 0);
    advance<kPlanes, V, P>(scales, 0, x, pass.first + g, acc);
  }
#pragma GCC unroll 8
  for (int n = 0; n < kTokens; ++n) {
#pragma GCC unroll 4
    for (int r = 0; r < kTiles; ++r) {
      if (pass.ends) {
        store_outputs<V>(args, pass.row + r * kTileRows, token + n, acc[r][n]);
      } else {
        V::store(sums + (n * kTiles + r) * kTileRows, acc[r][n]);
      }
    }
  }
}

template <class V, class P, int kPlanes, int kTiles, int kTokens>
[[gnu::always_inline]] inline void panel_cut(const LinearArgs& args, const PanelPass& pass, int token, int tokens,
                                             float* sums) {
  if constexpr (kTokens > 1) {
    if (tokens < kTokens) return panel_cut<V, P, kPlanes, kTiles, kTokens - 1>(args, pass, token, tokens, sums);
  }
  panel_tokens<V, P, kPlanes, kTiles, kTokens>(args, pass, token, sums);
}

// kTiles tiles from `pair` on, all of K, for tokens [begin, begin + count); count is at most kPanelTokens.
template <class V, class F, int kPlanes, int kTiles, int kTokens>
void panel_rows(const LinearArgs& args, const std::byte* weights, int pair, int begin, int count) {
  constexpr int kCode = V::kCodesAlike ? 255 : F::template Tile<V>::kMaxCode;
  using P = Panel<kTiles, F::kInfo.scales_per_group, F::kInfo.has_mins, kCode>;
  const std::size_t pair_bytes = packed_pair_bytes(F::kInfo, args.cols);
  auto* const sums = reinterpret_cast<float*>(args.panel + kPanelBytes);
  const int groups = args.cols / 32, cuts = (count + kTokens - 1) / kTokens;
  for (int first = 0; first < groups; first += kPanelGroups) {
    const int now = groups - first < kPanelGroups ? groups - first : kPanelGroups;
    expand_panel<V, F, P, kTiles>(weights, pair_bytes, first, now, args.panel);
    const PanelPass pass{args.panel, first, now, pair * kPairRows, first == 0, first + now == groups};
    for (int cut = 0; cut < cuts; ++cut) {
      const int from = count * cut / cuts, to = count * (cut + 1) / cuts;
      panel_cut<V, P, kPlanes, kTiles, kTokens>(args, pass, begin + from, to - from, sums + from * kTiles * kTileRows);
    }
  }
}

template <class V, class F, int kPlanes>
void linear_panels(const LinearArgs& args) {
  constexpr int kSums = V::kPanelSums;
  constexpr int kTiles = kPlanes == 1 && F::kInfo.scales_per_group == 1 && kSums >= 12 ? 4 : 2;
  constexpr int kTokens = kPlanes == kFinePlanes           ? kSums / 4
                          : F::kInfo.scales_per_group == 2 ? kSums / 3
                                                           : kSums / kTiles;
  constexpr int kPairs = kTiles / 2;
  const std::size_t pair_bytes = packed_pair_bytes(F::kInfo, args.cols);
  for (int begin = 0; begin < args.tokens; begin += kPanelTokens) {
    const int count = args.tokens - begin < kPanelTokens ? args.tokens - begin : kPanelTokens;
    int pair = args.pair_begin;
    for (; pair + kPairs <= args.pair_end; pair += kPairs) {
      const std::byte* weights = args.weights + static_cast<std::size_t>(pair - args.pair_begin) * pair_bytes;
      panel_rows<V, F, kPlanes, kTiles, kTokens>(args, weights, pair, begin, count);
    }
    if (pair < args.pair_end) {
      const std::byte* weights = args.weights + static_cast<std::size_t>(pair - args.pair_begin) * pair_bytes;
      panel_rows<V, F, kPlanes, 2, kTokens>(args, weights, pair, begin, count);
    }
  }
}

// From how many tokens on the panel is faster: two threads, layers of a model 1024 wide (bench/RESULTS.md). Codes of
// eight bits, and fewer with one scale a block, unpack at once: there it never is; nor where few sums of two planes
// fit.
template <class V, class F, int kPlanes>
constexpr int panel_from() {
  if (F::kInfo.block_values == 32 || OneScale<F> || V::kPanelSums < 6 * kPlanes) return kNoPanel;
  return F::kInfo.scales_per_group == 2 ? 64 : 128;
}

template <class V, class F>
void linear_quantized(const LinearArgs& args) {
  if constexpr (panel_from<V, F, 1>() != kNoPanel) {
    if (args.tokens >= panel_from<V, F, 1>()) return linear_panels<V, F, 1>(args);
  }
  linear_direct<V, F>(args);
}

template <class V, class F>
void linear_fine(const LinearArgs& args) {
  if constexpr (panel_from<V, F, kFinePlanes>() != kNoPanel) {
    if (args.tokens >= panel_from<V, F, kFinePlanes>()) return linear_panels<V, F, kFinePlanes>(args);
  }
  linear_direct_fine<V, F>(args);
}

}  // namespace plait
