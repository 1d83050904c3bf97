// Q8_0: 32 values as one f16 scale and 32 signed bytes.
#pragma once

#include "formats/block.h"
#include "formats/planes.h"
#include "formats/simple_encode.h"

namespace plait {

struct Q8_0 {
  static constexpr FormatInfo kInfo{.name = "q8_0", .gguf_type = 8, .block_values = 32, .block_bytes = 34};

  // f16 scale; 32 signed bytes.
  static void group(const std::byte* block, int /*g*/, Group& out) {
    set_scale(out, f16_at(block));
    for (int i = 0; i < 32; ++i) out.values[i] = to_i8(u8_at(block + 2 + i));
  }

  static void encode(const float* values, std::byte* block) {
    float largest = 0;
    for (int i = 0; i < 32; ++i) largest = std::max(largest, std::fabs(values[i]));
    const float scale = largest / 127;
    const float inverse = finite_inverse(scale);
    put_u16(block, float_to_f16(scale));
    for (int i = 0; i < 32; ++i) block[2 + i] = to_byte(round_away(values[i] * inverse));
  }

  // Per pair: 32 f16 scales; a plane of 8 bits with 128 added.
  static void pack(const std::byte* const* blocks, std::byte* record) {
    put_halves(record, blocks, 0);
    for (int row = 0; row < 32; ++row) {
      CodeWords codes = bit_fields(blocks[row] + 2, 0, 8);
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
      return half_field<V>(record, tile);
    }
  };

 private:
  static constexpr int kCodesAt = 64;
};

}  // namespace plait
