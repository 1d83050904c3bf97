// What the packed layouts share: sizes, float tiles, and expanded tiles.
#pragma once

#include <cstddef>

#include "formats/format.h"
#include "kernels/kernels.h"

namespace plait {

// Bytes of a pair of tiles, a multiple of 64 so that every pair begins on a line.
constexpr std::size_t packed_pair_bytes(const FormatInfo& info, int cols) {
  const std::size_t bytes =
      static_cast<std::size_t>(row_blocks(info, cols)) * static_cast<std::size_t>(info.block_bytes);
  return (bytes * kPairRows + 63) / 64 * 64;
}

// Sixteen float weights, widened exactly.
template <class V, class F>
[[gnu::always_inline]] inline typename V::F32x16 widen16(const std::byte* at) {
  if constexpr (F::kInfo.gguf_type == 0) {
    return V::load(reinterpret_cast<const float*>(at));
  } else if constexpr (F::kInfo.gguf_type == 1) {
    return V::half16(at);
  } else {
    return V::bf16_16(at);
  }
}

// Any quantized format with its codes widened to eight bits and its scales to f32. A record is one group:
// [tile][part][16 rows] scales, [tile][part][16 rows] mins if there are any, [tile][8 dwords][16 rows] codes as
// value + 128. Made for a pair at a time, where a format has no packed layout of its own.
template <int kParts, bool kMins>
struct Expanded {
  static constexpr int kScaleBytes = 2 * kParts * kTileRows * 4;  // The mins take as much.
  static constexpr int kCodesAt = kScaleBytes * (kMins ? 2 : 1);
  static constexpr int kRecordBytes = kCodesAt + 2 * 512;
  static constexpr FormatInfo kInfo{.name = "expanded",
                                    .block_values = 32,
                                    .block_bytes = kRecordBytes / kPairRows,
                                    .scales_per_group = kParts,
                                    .has_mins = kMins};

  template <class V>
  struct Tile {
    static constexpr int kMaxCode = 255;
    static constexpr int kZero = V::kZero8;

    [[gnu::always_inline]] static typename V::U8x64 codes(const std::byte* record, int tile, int /*g*/, int j) {
      return V::bytes8(V::load_bytes(record + kCodesAt + tile * 512 + j * 64));
    }
    [[gnu::always_inline]] static typename V::F32x16 scale(const std::byte* record, int tile, int /*g*/, int part) {
      return V::load(reinterpret_cast<const float*>(record) + (tile * kParts + part) * kTileRows);
    }
    [[gnu::always_inline]] static typename V::F32x16 min(const std::byte* record, int tile, int /*g*/, int part) {
      return V::load(reinterpret_cast<const float*>(record + kScaleBytes) + (tile * kParts + part) * kTileRows);
    }
  };
};

}  // namespace plait
