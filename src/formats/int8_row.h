// int8_row: signed bytes with one f32 scale for a whole row.
//
// The scale stands before each 32 codes, so that a row is made of blocks like any other: 9 bits a weight instead of 8.
#pragma once

#include <limits>

#include "formats/block.h"
#include "formats/planes.h"
#include "formats/simple_encode.h"

namespace plait {

struct Int8Row {
  static constexpr FormatInfo kInfo{.name = "int8_row", .gguf_type = -2, .block_values = 32, .block_bytes = 36};

  // f32 scale of the row; 32 signed bytes.
  static void group(const std::byte* block, int /*g*/, Group& out) {
    set_scale(out, f32_at(block));
    for (int i = 0; i < 32; ++i) out.values[i] = to_i8(u8_at(block + 4 + i));
  }

  // Codes of -127 to 127, zero beyond the row's end.
  static void encode_row(const float* values, std::int64_t count, std::byte* row) {
    float largest = 0;
    for (std::int64_t i = 0; i < count; ++i) largest = std::max(largest, std::fabs(values[i]));
    const float scale = largest == 0 ? 1 : std::max(largest / 127, std::numeric_limits<float>::denorm_min());
    for (std::int64_t begin = 0; begin < count; begin += 32, row += kInfo.block_bytes) {
      put_f32(row, scale);
      for (int i = 0; i < 32; ++i) {
        const float value = begin + i < count ? values[begin + i] : 0;
        row[4 + i] = to_byte(std::clamp(round_away(value / scale), -127, 127));
      }
    }
  }

  // Per pair: 32 f32 scales; a plane of 8 bits with 128 added.
  static void pack(const std::byte* const* blocks, std::byte* record) {
    put_floats(record, blocks, 0);
    for (int row = 0; row < 32; ++row) {
      CodeWords codes = bit_fields(blocks[row] + 4, 0, 8);
      for (std::uint32_t& word : codes.word) word ^= 0x80808080u;
      put_plane(record + kCodesAt, row, codes, 8);
    }
  }

  template <class V>
  struct Tile {
    static constexpr int kMaxCode = 255;
    static constexpr int kZero = V::kZero8;

    [[gnu::always_inline]] static typename V::U8x64 codes(const std::byte* record, int tile, int /*g*/, int j) {
      return V::bytes8(V::load_bytes(record + kCodesAt + tile * 512 + j * 64));
    }
    [[gnu::always_inline]] static typename V::F32x16 scale(const std::byte* record, int tile, int, int) {
      return float_field<V>(record, tile);
    }
  };

 private:
  static constexpr int kCodesAt = 128;
};

}  // namespace plait
