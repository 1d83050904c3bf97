// Q4_K: 256 values as nibbles; a 6-bit scale and min for each 32, over an f16 scale and an f16 min.
#pragma once

#include "formats/encode_affine.h"
#include "formats/k_scales.h"
#include "formats/planes.h"

namespace plait {

struct Q4_K {
  static constexpr FormatInfo kInfo{
      .name = "q4_k", .gguf_type = 12, .block_values = 256, .block_bytes = 144, .has_mins = true};

  // f16 scale; f16 min; 12 bytes of scales and mins; 4 times 32 bytes: an even group in the low nibbles, the odd one
  // after it in the high ones.
  static void group(const std::byte* block, int g, Group& out) {
    set_scale(out, f16_at(block) * static_cast<float>(KScales::scale(block + 4, g)),
              f16_at(block + 2) * static_cast<float>(KScales::min(block + 4, g)));
    const std::byte* codes = block + 16 + 32 * (g / 2);
    for (int i = 0; i < 32; ++i) out.values[i] = to_i8(u8_at(codes + i) >> 4 * (g % 2) & 15);
  }

  static void encode(const float* values, std::byte* block) {
    const AffineBlock<32> found = encode_affine<32>(values, 15, 63);
    put_u16(block, found.scale);
    put_u16(block + 2, found.min);
    KScales::pack(found.scale_codes, found.min_codes, block + 4);
    for (int i = 0; i < 128; ++i) {
      const float* pair = found.codes + i / 32 * 64 + i % 32;
      block[16 + i] = to_byte(static_cast<int>(pair[0]) | static_cast<int>(pair[32]) << 4);
    }
  }

  // Per pair: 32 f16 scales, 32 f16 mins; for each group 32 bytes: its scale, above it the low two bits of its min; for
  // each two groups 32 bytes: the high four bits of their mins; for each group a plane of 4 bits.
  static void pack(const std::byte* const* blocks, std::byte* record) {
    put_halves(record, blocks, 0);
    put_halves(record + 64, blocks, 2);
    for (int row = 0; row < 32; ++row) {
      KScales::put_packed(blocks[row] + 4, record + 128, row);
      for (int g = 0; g < 8; ++g) {
        std::byte* plane = record + kCodesAt + kGroupBytes * g;
        put_plane(plane, row, bit_fields(blocks[row] + 16 + 32 * (g / 2), 4 * (g % 2), 4), 4);
      }
    }
  }

  template <class V>
  struct Tile {
    static constexpr int kMaxCode = 15;
    static constexpr int kZero = 0;

    [[gnu::always_inline]] static typename V::U8x64 codes(const std::byte* record, int tile, int g, int j) {
      const std::byte* plane = record + kCodesAt + kGroupBytes * g;
      return plane_codes<V, 4>(plane, tile, j);
    }
    [[gnu::always_inline]] static typename V::F32x16 scale(const std::byte* record, int tile, int g, int) {
      return V::mul(half_field<V>(record, tile), V::to_float(KScales::packed_scale<V>(record + 128, tile, g)));
    }
    [[gnu::always_inline]] static typename V::F32x16 min(const std::byte* record, int tile, int g, int) {
      return V::mul(half_field<V>(record + 64, tile), V::to_float(KScales::packed_min<V>(record + 128, tile, g)));
    }
  };

 private:
  static constexpr int kCodesAt = 512, kGroupBytes = 512;
};

}  // namespace plait
