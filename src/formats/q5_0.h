// Q5_0: 32 values as one f16 scale and 32 five-bit codes, each stored plus sixteen.
#pragma once

#include "formats/block.h"
#include "formats/planes.h"
#include "formats/simple_encode.h"

namespace plait {

struct Q5_0 {
  static constexpr FormatInfo kInfo{.name = "q5_0", .gguf_type = 6, .block_values = 32, .block_bytes = 22};

  // f16 scale; 4 bytes with the fifth bit of value i in bit i; 16 bytes of nibbles as in Q4_0.
  static void group(const std::byte* block, int /*g*/, Group& out) {
    set_scale(out, f16_at(block));
    const std::uint32_t high = u32_at(block + 2);
    for (int i = 0; i < 16; ++i) {
      const int pair = u8_at(block + 6 + i);
      out.values[i] = to_i8(((pair & 15) | static_cast<int>(high >> i & 1) << 4) - 16);
      out.values[i + 16] = to_i8(((pair >> 4) | static_cast<int>(high >> (i + 16) & 1) << 4) - 16);
    }
  }

  static void encode(const float* values, std::byte* block) {
    int codes[32];
    put_u16(block, float_to_f16(encode_signed(values, 32, codes)));
    pack_five_bits(codes, block + 2);
  }

  // Per pair: 32 f16 scales; a plane of 4 bits, then one of 1 bit.
  static void pack(const std::byte* const* blocks, std::byte* record) {
    put_halves(record, blocks, 0);
    for (int row = 0; row < 32; ++row) {
      put_plane(record + kCodesAt + 512, row, single_bits(blocks[row] + 2), 1);
      put_plane(record + kCodesAt, row, split_nibbles(blocks[row] + 6), 4);
    }
  }

  template <class V>
  struct Tile {
    static constexpr int kMaxCode = 31;
    static constexpr int kZero = 16;

    [[gnu::always_inline]] static typename V::U8x64 codes(const std::byte* record, int tile, int /*g*/, int j) {
      return V::or_bytes(plane_codes<V, 4>(record + kCodesAt, tile, j),
                         plane_codes<V, 1>(record + kCodesAt + 512, tile, j, 4));
    }
    [[gnu::always_inline]] static typename V::F32x16 scale(const std::byte* record, int tile, int, int) {
      return half_field<V>(record, tile);
    }
  };

 private:
  static constexpr int kCodesAt = 64;
};

}  // namespace plait
