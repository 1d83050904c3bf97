// Q3_K: 256 values as 3-bit codes, each stored plus four; a 6-bit scale for each 16, over an f16 scale.
#pragma once

#include "formats/block.h"
#include "formats/encode_symmetric.h"
#include "formats/planes.h"

namespace plait {

struct Q3_K {
  static constexpr FormatInfo kInfo{
      .name = "q3_k", .gguf_type = 11, .block_values = 256, .block_bytes = 110, .scales_per_group = 2};

  // 32 bytes: bit g of byte i is the third bit of value i of group g; 64 bytes with the lower two bits as in Q2_K;
  // 12 bytes of scales, stored plus 32: eight bytes of low nibbles, four bytes of high pairs; f16 scale.
  static void group(const std::byte* block, int g, Group& out) {
    const float scale = f16_at(block + 108);
    out.mins[0] = out.mins[1] = 0;
    for (int h = 0; h < 2; ++h) out.scales[h] = scale * static_cast<float>(scale_code(block + 96, 2 * g + h) - 32);
    const std::byte* low = block + 32 + 32 * (g / 4);
    for (int i = 0; i < 32; ++i) {
      const int code = (u8_at(low + i) >> 2 * (g % 4) & 3) | (u8_at(block + i) >> g & 1) << 2;
      out.values[i] = to_i8(code - 4);
    }
  }

  // The 6-bit scale number k of 16.
  static int scale_code(const std::byte* scales, int k) {
    const int low = u8_at(scales + k % 8) >> 4 * (k / 8) & 15;
    const int high = u8_at(scales + 8 + k % 4) >> 2 * (k / 4) & 3;
    return low | high << 4;
  }

  static void encode(const float* values, std::byte* block) {
    const SymmetricBlock found = encode_symmetric(values, {-4, 3, -32, 31});
    std::fill_n(block, kInfo.block_bytes, std::byte{0});
    for (int i = 0; i < 256; ++i) {
      const int code = static_cast<int>(found.codes[i]) + 4, g = i / 32;
      block[i % 32] |= to_byte((code >> 2) << g);
      block[32 + 32 * (g / 4) + i % 32] |= to_byte((code & 3) << 2 * (g % 4));
    }
    for (int k = 0; k < 16; ++k) {
      const int code = found.scale_codes[k] + 32;
      block[96 + k % 8] |= to_byte((code & 15) << 4 * (k / 8));
      block[104 + k % 4] |= to_byte((code >> 4) << 2 * (k / 4));
    }
    put_u16(block + 108, found.scale);
  }

  // Per pair: 32 f16 scales; for each group 32 bytes: the low nibbles of its two scales; for each two groups 32 bytes:
  // the high pairs of their four scales; for each group planes of 2 bits and 1 bit.
  static void pack(const std::byte* const* blocks, std::byte* record) {
    put_halves(record, blocks, 108);
    for (int row = 0; row < 32; ++row) {
      const std::byte* scales = blocks[row] + 96;
      for (int g = 0; g < 8; ++g) {
        const int first = scale_code(scales, 2 * g), second = scale_code(scales, 2 * g + 1);
        record[64 + 32 * g + row] = to_byte((first & 15) | (second & 15) << 4);
      }
      for (int g = 0; g < 8; g += 2) {
        int high = 0;
        for (int i = 0; i < 4; ++i) high |= (scale_code(scales, 2 * g + i) >> 4) << 2 * i;
        record[320 + 16 * g + row] = to_byte(high);
      }
      for (int g = 0; g < 8; ++g) {
        std::byte* plane = record + kCodesAt + kGroupBytes * g;
        put_plane(plane, row, bit_fields(blocks[row] + 32 + 32 * (g / 4), 2 * (g % 4), 2), 2);
        put_plane(plane + 256, row, bit_fields(blocks[row], g, 1), 1);
      }
    }
  }

  template <class V>
  struct Tile {
    static constexpr int kMaxCode = 7;
    static constexpr int kZero = 4;

    [[gnu::always_inline]] static typename V::U8x64 codes(const std::byte* record, int tile, int g, int j) {
      const std::byte* plane = record + kCodesAt + kGroupBytes * g;
      return V::or_bytes(plane_codes<V, 2>(plane, tile, j), plane_codes<V, 1>(plane + 256, tile, j, 2));
    }
    [[gnu::always_inline]] static typename V::F32x16 scale(const std::byte* record, int tile, int g, int part) {
      const typename V::I32x16 low = nibble_field<V>(record + 64 + 32 * g, tile, part != 0);
      typename V::I32x16 high = nibble_field<V>(record + 320 + 32 * (g / 2), tile, g % 2 != 0);
      high = part != 0 ? V::template shift_right_int<2>(high) : V::and_int(high, 3);
      const typename V::I32x16 code = V::or_int(low, V::template shift_left_int<4>(high));
      return V::mul(half_field<V>(record, tile), V::to_float(V::sub(code, V::set_int(32))));
    }
  };

 private:
  static constexpr int kCodesAt = 448, kGroupBytes = 384;
};

}  // namespace plait
