// Q6_K: 256 values as 6-bit codes, each stored plus 32; a signed 8-bit scale for each 16, over an f16 scale.
#pragma once

#include "formats/block.h"
#include "formats/encode_symmetric.h"
#include "formats/planes.h"

namespace plait {

struct Q6_K {
  static constexpr FormatInfo kInfo{
      .name = "q6_k", .gguf_type = 14, .block_values = 256, .block_bytes = 210, .scales_per_group = 2};

  // 128 bytes of low nibbles, 64 bytes of high pairs, 16 signed scales, f16 scale. In each half of the block (four
  // groups) nibbles lie in 64 bytes, groups 0 and 1 low, 2 and 3 high; pairs in 32 bytes, group g at bits 2 (g % 4).
  static void group(const std::byte* block, int g, Group& out) {
    const float scale = f16_at(block + 208);
    out.mins[0] = out.mins[1] = 0;
    for (int h = 0; h < 2; ++h) out.scales[h] = scale * static_cast<float>(to_i8(u8_at(block + 192 + 2 * g + h)));
    const int half = g / 4, quarter = g % 4;
    const std::byte* low = block + 64 * half + 32 * (quarter % 2);
    const std::byte* high = block + 128 + 32 * half;
    for (int i = 0; i < 32; ++i) {
      const int code = (u8_at(low + i) >> 4 * (quarter / 2) & 15) | (u8_at(high + i) >> 2 * quarter & 3) << 4;
      out.values[i] = to_i8(code - 32);
    }
  }

  static void encode(const float* values, std::byte* block) {
    const SymmetricBlock found = encode_symmetric(values, {-32, 31, -128, 127});
    std::fill_n(block, kInfo.block_bytes, std::byte{0});
    for (int i = 0; i < 256; ++i) {
      const int code = static_cast<int>(found.codes[i]) + 32, half = i / 128, quarter = i / 32 % 4;
      block[64 * half + 32 * (quarter % 2) + i % 32] |= to_byte((code & 15) << 4 * (quarter / 2));
      block[128 + 32 * half + i % 32] |= to_byte((code >> 4) << 2 * quarter);
    }
    for (int k = 0; k < 16; ++k) block[192 + k] = to_byte(found.scale_codes[k]);
    put_u16(block + 208, found.scale);
  }

  // Per pair: 32 f16 scales; for each 16 values 32 signed bytes; for each group planes of 4 and 2 bits.
  static void pack(const std::byte* const* blocks, std::byte* record) {
    put_halves(record, blocks, 208);
    put_bytes(record + 64, blocks, 192, 16);
    for (int row = 0; row < 32; ++row) {
      for (int g = 0; g < 8; ++g) {
        const int half = g / 4, quarter = g % 4;
        std::byte* plane = record + kCodesAt + kGroupBytes * g;
        const std::byte* low = blocks[row] + 64 * half + 32 * (quarter % 2);
        put_plane(plane, row, bit_fields(low, 4 * (quarter / 2), 4), 4);
        put_plane(plane + 512, row, bit_fields(blocks[row] + 128 + 32 * half, 2 * quarter, 2), 2);
      }
    }
  }

  template <class V>
  struct Tile {
    static constexpr int kMaxCode = 63;
    static constexpr int kZero = 32;

    [[gnu::always_inline]] static typename V::U8x64 codes(const std::byte* record, int tile, int g, int j) {
      const std::byte* plane = record + kCodesAt + kGroupBytes * g;
      return V::or_bytes(plane_codes<V, 4>(plane, tile, j), plane_codes<V, 2>(plane + 512, tile, j, 4));
    }
    [[gnu::always_inline]] static typename V::F32x16 scale(const std::byte* record, int tile, int g, int part) {
      return V::mul(half_field<V>(record, tile), V::s8_16(record + 64 + 32 * (2 * g + part) + 16 * tile));
    }
  };

 private:
  static constexpr int kCodesAt = 576, kGroupBytes = 768;
};

}  // namespace plait
