// Q4_0: 32 values as one f16 scale and 32 nibbles, each stored plus eight.
#pragma once

#include "formats/block.h"
#include "formats/planes.h"
#include "formats/simple_encode.h"

namespace plait {

struct Q4_0 {
  static constexpr FormatInfo kInfo{.name = "q4_0", .gguf_type = 2, .block_values = 32, .block_bytes = 18};

  // f16 scale; 16 bytes: values 0 to 15 in the low nibbles, 16 to 31 in the high ones.
  static void group(const std::byte* block, int /*g*/, Group& out) {
    set_scale(out, f16_at(block));
    for (int i = 0; i < 16; ++i) {
      const int pair = u8_at(block + 2 + i);
      out.values[i] = to_i8((pair & 15) - 8);
      out.values[i + 16] = to_i8((pair >> 4) - 8);
    }
  }

  static void encode(const float* values, std::byte* block) {
    int codes[32];
    const float scale = encode_signed(values, 16, codes);
    put_u16(block, float_to_f16(scale));
    for (int i = 0; i < 16; ++i) block[2 + i] = to_byte(codes[i] | codes[i + 16] << 4);
  }

  // Per pair: 32 f16 scales; a plane of 4 bits.
  static void pack(const std::byte* const* blocks, std::byte* record) {
    put_halves(record, blocks, 0);
    for (int row = 0; row < 32; ++row) {
      put_plane(record + kCodesAt, row, split_nibbles(blocks[row] + 2), 4);
    }
  }

  template <class V>
  struct Tile {
    static constexpr int kMaxCode = 15;
    static constexpr int kZero = 8;

    [[gnu::always_inline]] static typename V::U8x64 codes(const std::byte* record, int tile, int /*g*/, int j) {
      return plane_codes<V, 4>(record + kCodesAt, tile, j);
    }
    [[gnu::always_inline]] static typename V::F32x16 scale(const std::byte* record, int tile, int, int) {
      return half_field<V>(record, tile);
    }
  };

 private:
  static constexpr int kCodesAt = 64;
};

}  // namespace plait
