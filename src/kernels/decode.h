// Packed weights back to f32, with the values of their format's own decoding: code - zero, times the scale, minus the
// min, each rounded on its own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/kernels.h"
#include "kernels/tile.h"

namespace plait {

// One row of packed weights to f32, as the format's decoding gives it.
template <class V, class F>
void decode_packed_row(const std::byte* weights, int row, int cols, float* out) {
  const std::byte* record = weights + static_cast<std::size_t>(row / kPairRows) * packed_pair_bytes(F::kInfo, cols);
  const int tile = row % kPairRows / kTileRows, r = row % kTileRows;
  if constexpr (F::kInfo.is_float) {
    constexpr int kValueBytes = F::kInfo.block_bytes;
    for (int k = 0; k < cols; ++k, record += kPairRows * kValueBytes) {
      float lanes[kTileRows];
      V::store(lanes, widen16<V, F>(record + tile * kTileRows * kValueBytes));
      out[k] = lanes[r];
    }
  } else {
    using Tile = typename F::template Tile<V>;
    constexpr int kParts = F::kInfo.scales_per_group;
    for (int begin = 0; begin < cols; begin += F::kInfo.block_values, record += F::kInfo.block_bytes * kPairRows) {
      for (int g = 0; g < F::kInfo.block_values / 32; ++g) {
        float scales[kTileRows], mins[kTileRows];
        for (int j = 0; j < 8; ++j) {
          const int part = j * kParts / 8;
          std::uint8_t codes[64];
          V::store_bytes(codes, Tile::codes(record, tile, g, j));
          V::store(scales, Tile::scale(record, tile, g, part));
          if constexpr (requires { &Tile::offset; })
            V::store(mins, V::sub(V::set(-0.0f), Tile::offset(record, tile, g, part)));
          else if constexpr (F::kInfo.has_mins)
            V::store(mins, Tile::min(record, tile, g, part));
          const int first = begin + 32 * g + 4 * j;
          for (int i = 0; i < 4 && first + i < cols; ++i) {
            constexpr bool kSigned = Tile::kMaxCode == 255 && Tile::kZero == 0;
            const int code = kSigned ? static_cast<std::int8_t>(codes[4 * r + i]) : codes[4 * r + i];
            out[first + i] = static_cast<float>(code - Tile::kZero) * scales[r];
            if constexpr (F::kInfo.has_mins) out[first + i] -= mins[r];
          }
        }
      }
    }
  }
}

// Byte kByte of each lane, less the zero, as a float.
template <class V, class Tile, int kByte>
[[gnu::always_inline]] inline typename V::F32x16 code_lane(typename V::I32x16 codes) {
  constexpr bool kSigned = Tile::kMaxCode == 255 && Tile::kZero == 0;
  if constexpr (kSigned) {
    return V::to_float(V::template shift_right_int<24>(V::template shift_left_int<24 - 8 * kByte>(codes)));
  } else {
    const typename V::I32x16 code = V::and_int(V::template shift_right_int<8 * kByte>(codes), 255);
    return V::to_float(V::sub(code, V::set_int(Tile::kZero)));
  }
}

// A pair of packed weights to f32, as the kernel of f32 weights reads them: [cols][32 rows], whole blocks. Lanes are
// rows.
template <class V, class F>
void decode_packed_pair(const std::byte* record, int cols, float* out) {
  using Tile = typename F::template Tile<V>;
  using F32x16 = typename V::F32x16;
  constexpr int kParts = F::kInfo.scales_per_group, kGroups = F::kInfo.block_values / 32;
  for (int begin = 0; begin < cols; begin += F::kInfo.block_values, record += F::kInfo.block_bytes * kPairRows) {
    for (int i = 0; i < 2 * kGroups * kParts; ++i) {
      const int tile = i / (kGroups * kParts), g = i / kParts % kGroups, part = i % kParts;
      const F32x16 scale = Tile::scale(record, tile, g, part);
      F32x16 min = V::set(0);
      if constexpr (requires { &Tile::offset; })
        min = V::sub(V::set(-0.0f), Tile::offset(record, tile, g, part));
      else if constexpr (F::kInfo.has_mins)
        min = Tile::min(record, tile, g, part);
      float* to = out + (begin + 32 * g) * kPairRows + tile * kTileRows;
      for (int j = part * 8 / kParts; j < (part + 1) * 8 / kParts; ++j) {
        std::uint8_t bytes[64];
        V::store_bytes(bytes, Tile::codes(record, tile, g, j));
        const typename V::I32x16 codes = V::load_int(bytes);
        const F32x16 lanes[4] = {code_lane<V, Tile, 0>(codes), code_lane<V, Tile, 1>(codes),
                                 code_lane<V, Tile, 2>(codes), code_lane<V, Tile, 3>(codes)};
        for (int byte = 0; byte < 4; ++byte) {
          F32x16 value = V::mul(lanes[byte], scale);
          if constexpr (F::kInfo.has_mins) value = V::sub(value, min);
          V::store(to + (4 * j + byte) * kPairRows, value);
        }
      }
    }
  }
}

}  // namespace plait
