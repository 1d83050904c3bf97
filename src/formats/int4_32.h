// int4_32: 32 values as one f32 scale and 32 nibbles, each stored plus eight: Q4_0 with the scale unrounded.
#pragma once

#include "formats/block.h"
#include "formats/planes.h"
#include "formats/simple_encode.h"

namespace plait {

struct Int4_32 {
  static constexpr FormatInfo kInfo{.name = "int4_32", .gguf_type = -3, .block_values = 32, .block_bytes = 20};

  // f32 scale; 16 bytes: values 0 to 15 in the low nibbles, 16 to 31 in the high ones.
  static void group(const std::byte* block, int /*g*/, Group& out) {
    set_scale(out, f32_at(block));
    for (int i = 0; i < 16; ++i) {
      const int pair = u8_at(block + 4 + i);
      out.values[i] = to_i8((pair & 15) - 8);
      out.values[i + 16] = to_i8((pair >> 4) - 8);
    }
  }

  // The first value of largest magnitude becomes the lowest code, so it is exact and the scale may be negative. Nibbles
  // beyond the row's end are zero.
  static void encode_row(const float* values, std::int64_t count, std::byte* row) {
    for (std::int64_t begin = 0; begin < count; begin += 32, row += kInfo.block_bytes) {
      const float* x = values + begin;
      const auto here = static_cast<int>(std::min<std::int64_t>(32, count - begin));
      float extreme = 0;
      for (int i = 0; i < here; ++i) {
        if (std::fabs(x[i]) > std::fabs(extreme)) extreme = x[i];
      }
      const float eighth = extreme / -8;
      const float scale = eighth == 0 ? 1 : eighth;  // Zero also where the division rounds to it.
      int codes[32] = {};
      for (int i = 0; i < here; ++i) codes[i] = std::clamp(static_cast<int>(x[i] / scale + 8.5f), 0, 15);
      put_f32(row, scale);
      for (int i = 0; i < 16; ++i) row[4 + i] = to_byte(codes[i] | codes[i + 16] << 4);
    }
  }

  // Per pair: 32 f32 scales; a plane of 4 bits.
  static void pack(const std::byte* const* blocks, std::byte* record) {
    put_floats(record, blocks, 0);
    for (int row = 0; row < 32; ++row) put_plane(record + kCodesAt, row, split_nibbles(blocks[row] + 4), 4);
  }

  template <class V>
  struct Tile {
    static constexpr int kMaxCode = 15;
    static constexpr int kZero = 8;

    [[gnu::always_inline]] static typename V::U8x64 codes(const std::byte* record, int tile, int /*g*/, int j) {
      return plane_codes<V, 4>(record + kCodesAt, tile, j);
    }
    [[gnu::always_inline]] static typename V::F32x16 scale(const std::byte* record, int tile, int, int) {
      return float_field<V>(record, tile);
    }
  };

 private:
  static constexpr int kCodesAt = 128;
};

}  // namespace plait
