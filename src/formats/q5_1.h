// Q5_1: 32 values as an f16 scale, an f16 offset and 32 five-bit codes.
#pragma once

#include "formats/block.h"
#include "formats/planes.h"
#include "formats/simple_encode.h"

namespace plait {

struct Q5_1 {
  static constexpr FormatInfo kInfo{
      .name = "q5_1", .gguf_type = 7, .block_values = 32, .block_bytes = 24, .has_mins = true};

  // f16 scale; f16 offset, which is added and so the min negated; then as in Q5_0.
  static void group(const std::byte* block, int /*g*/, Group& out) {
    set_scale(out, f16_at(block), -f16_at(block + 2));
    const std::uint32_t high = u32_at(block + 4);
    for (int i = 0; i < 16; ++i) {
      const int pair = u8_at(block + 8 + i);
      out.values[i] = to_i8((pair & 15) | static_cast<int>(high >> i & 1) << 4);
      out.values[i + 16] = to_i8((pair >> 4) | static_cast<int>(high >> (i + 16) & 1) << 4);
    }
  }

  static void encode(const float* values, std::byte* block) {
    int codes[32];
    const Line line = encode_line(values, 32, codes);
    put_u16(block, float_to_f16(line.scale));
    put_u16(block + 2, float_to_f16(line.offset));
    pack_five_bits(codes, block + 4);
  }

  // Per pair: 32 f16 scales, then 32 f16 offsets; a plane of 4 bits, then one of 1 bit.
  static void pack(const std::byte* const* blocks, std::byte* record) {
    put_halves(record, blocks, 0);
    put_halves(record + 64, blocks, 2);
    for (int row = 0; row < 32; ++row) {
      put_plane(record + kCodesAt + 512, row, single_bits(blocks[row] + 4), 1);
      put_plane(record + kCodesAt, row, split_nibbles(blocks[row] + 8), 4);
    }
  }

  template <class V>
  struct Tile {
    static constexpr int kMaxCode = 31;
    static constexpr int kZero = 0;

    [[gnu::always_inline]] static typename V::U8x64 codes(const std::byte* record, int tile, int /*g*/, int j) {
      return V::or_bytes(plane_codes<V, 4>(record + kCodesAt, tile, j),
                         plane_codes<V, 1>(record + kCodesAt + 512, tile, j, 4));
    }
    [[gnu::always_inline]] static typename V::F32x16 scale(const std::byte* record, int tile, int, int) {
      return half_field<V>(record, tile);
    }
    [[gnu::always_inline]] static typename V::F32x16 offset(const std::byte* record, int tile, int, int) {
      return half_field<V>(record + 64, tile);
    }
  };

 private:
  static constexpr int kCodesAt = 128;
};

}  // namespace plait
