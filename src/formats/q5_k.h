// Q5_K: 256 values as 5-bit codes; a 6-bit scale and min for each 32, over an f16 scale and an f16 min.
#pragma once

#include "formats/encode_affine.h"
#include "formats/k_scales.h"
#include "formats/planes.h"

namespace plait {

struct Q5_K {
  static constexpr FormatInfo kInfo{
      .name = "q5_k", .gguf_type = 13, .block_values = 256, .block_bytes = 176, .has_mins = true};

  // f16 scale; f16 min; 12 bytes of scales and mins; 32 bytes: bit g of byte i is the fifth bit of value i of group g;
  // 4 times 32 bytes of nibbles as in Q4_K.
  static void group(const std::byte* block, int g, Group& out) {
    set_scale(out, f16_at(block) * static_cast<float>(KScales::scale(block + 4, g)),
              f16_at(block + 2) * static_cast<float>(KScales::min(block + 4, g)));
    const std::byte* high = block + 16;
    const std::byte* low = block + 48 + 32 * (g / 2);
    for (int i = 0; i < 32; ++i) {
      out.values[i] = to_i8((u8_at(low + i) >> 4 * (g % 2) & 15) | (u8_at(high + i) >> g & 1) << 4);
    }
  }

  static void encode(const float* values, std::byte* block) {
    const AffineBlock<32> found = encode_affine<32>(values, 31, 63);
    put_u16(block, found.scale);
    put_u16(block + 2, found.min);
    KScales::pack(found.scale_codes, found.min_codes, block + 4);
    for (int i = 0; i < 32; ++i) {
      int high = 0;
      for (int g = 0; g < 8; ++g) high |= (static_cast<int>(found.codes[32 * g + i]) >> 4) << g;
      block[16 + i] = to_byte(high);
    }
    for (int i = 0; i < 128; ++i) {
      const float* pair = found.codes + i / 32 * 64 + i % 32;
      block[48 + i] = to_byte((static_cast<int>(pair[0]) & 15) | (static_cast<int>(pair[32]) & 15) << 4);
    }
  }

  // Per pair: 32 f16 scales, 32 f16 mins; for each group 32 bytes: its scale, above it the low two bits of its min; for
  // each two groups 32 bytes: the high four bits of their mins; for each group a plane of 4 bits and one of 1 bit.
  static void pack(const std::byte* const* blocks, std::byte* record) {
    put_halves(record, blocks, 0);
    put_halves(record + 64, blocks, 2);
    for (int row = 0; row < 32; ++row) {
      KScales::put_packed(blocks[row] + 4, record + 128, row);
      for (int g = 0; g < 8; ++g) {
        std::byte* plane = record + kCodesAt + kGroupBytes * g;
        put_plane(plane, row, bit_fields(blocks[row] + 48 + 32 * (g / 2), 4 * (g % 2), 4), 4);
        put_plane(plane + 512, row, bit_fields(blocks[row] + 16, g, 1), 1);
      }
    }
  }

  template <class V>
  struct Tile {
    static constexpr int kMaxCode = 31;
    static constexpr int kZero = 0;

    [[gnu::always_inline]] static typename V::U8x64 codes(const std::byte* record, int tile, int g, int j) {
      const std::byte* plane = record + kCodesAt + kGroupBytes * g;
      return V::or_bytes(plane_codes<V, 4>(plane, tile, j), plane_codes<V, 1>(plane + 512, tile, j, 4));
    }
    [[gnu::always_inline]] static typename V::F32x16 scale(const std::byte* record, int tile, int g, int) {
      return V::mul(half_field<V>(record, tile), V::to_float(KScales::packed_scale<V>(record + 128, tile, g)));
    }
    [[gnu::always_inline]] static typename V::F32x16 min(const std::byte* record, int tile, int g, int) {
      return V::mul(half_field<V>(record + 64, tile), V::to_float(KScales::packed_min<V>(record + 128, tile, g)));
    }
  };

 private:
  static constexpr int kCodesAt = 512, kGroupBytes = 640;
};

}  // namespace plait
