// Q2_K: 256 values as 2-bit codes; a 4-bit scale and min for each 16, over an f16 scale and an f16 min.
#pragma once

#include "formats/block.h"
#include "formats/encode_affine.h"
#include "formats/planes.h"

namespace plait {

struct Q2_K {
  static constexpr FormatInfo kInfo{
      .name = "q2_k", .gguf_type = 10, .block_values = 256, .block_bytes = 84, .scales_per_group = 2, .has_mins = true};

  // 16 bytes: scale in the low nibble, min in the high one; 64 bytes of codes, two halves of 32 bytes, in which group g
  // has bits 2 (g % 4); f16 scale; f16 min.
  static void group(const std::byte* block, int g, Group& out) {
    const float scale = f16_at(block + 80), min = f16_at(block + 82);
    for (int h = 0; h < 2; ++h) {
      const int pair = u8_at(block + 2 * g + h);
      out.scales[h] = scale * static_cast<float>(pair & 15);
      out.mins[h] = min * static_cast<float>(pair >> 4);
    }
    const std::byte* codes = block + 16 + 32 * (g / 4);
    for (int i = 0; i < 32; ++i) out.values[i] = to_i8(u8_at(codes + i) >> 2 * (g % 4) & 3);
  }

  static void encode(const float* values, std::byte* block) {
    const AffineBlock<16> found = encode_affine<16>(values, 3, 15);
    for (int part = 0; part < 16; ++part) block[part] = to_byte(found.scale_codes[part] | found.min_codes[part] << 4);
    for (int i = 0; i < 64; ++i) {
      int byte = 0;
      for (int g = 0; g < 4; ++g) byte |= static_cast<int>(found.codes[i / 32 * 128 + 32 * g + i % 32]) << 2 * g;
      block[16 + i] = to_byte(byte);
    }
    put_u16(block + 80, found.scale);
    put_u16(block + 82, found.min);
  }

  // Per pair: 32 f16 scales, 32 f16 mins; for each 16 values 32 bytes as in the file; for each group a plane of 2 bits.
  static void pack(const std::byte* const* blocks, std::byte* record) {
    put_halves(record, blocks, 80);
    put_halves(record + 64, blocks, 82);
    put_bytes(record + 128, blocks, 0, 16);
    for (int row = 0; row < 32; ++row) {
      for (int g = 0; g < 8; ++g) {
        const CodeWords codes = bit_fields(blocks[row] + 16 + 32 * (g / 4), 2 * (g % 4), 2);
        put_plane(record + kCodesAt + 256 * g, row, codes, 2);
      }
    }
  }

  template <class V>
  struct Tile {
    static constexpr int kMaxCode = 3;
    static constexpr int kZero = 0;

    [[gnu::always_inline]] static typename V::U8x64 codes(const std::byte* record, int tile, int g, int j) {
      return plane_codes<V, 2>(record + kCodesAt + 256 * g, tile, j);
    }
    [[gnu::always_inline]] static typename V::F32x16 scale(const std::byte* record, int tile, int g, int part) {
      const typename V::I32x16 code = nibble_field<V>(record + 128 + 32 * (2 * g + part), tile, false);
      return V::mul(half_field<V>(record, tile), V::to_float(code));
    }
    [[gnu::always_inline]] static typename V::F32x16 min(const std::byte* record, int tile, int g, int part) {
      const typename V::I32x16 code = nibble_field<V>(record + 128 + 32 * (2 * g + part), tile, true);
      return V::mul(half_field<V>(record + 64, tile), V::to_float(code));
    }
  };

 private:
  static constexpr int kCodesAt = 640;
};

}  // namespace plait
