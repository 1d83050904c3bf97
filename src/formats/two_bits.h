// Blocks of one f16 scale and 2-bit codes, each stored plus one: what Q2_0 and q2_g128 share. Kernels move a code from
// its plane to the place it is multiplied in; it is never widened in memory.
#pragma once

#include "formats/block.h"
#include "formats/planes.h"

namespace plait {

// f16 scale; for each group 8 bytes: value i in bits 2 (i % 4) of byte i / 4.
inline void two_bit_group(const std::byte* block, int g, Group& out) {
  set_scale(out, f16_at(block));
  for (int i = 0; i < 32; ++i) out.values[i] = to_i8((u8_at(block + 2 + 8 * g + i / 4) >> 2 * (i % 4) & 3) - 1);
}

// Codes of -1 to 2 to four a byte.
inline void put_two_bits(std::byte* to, const int* codes, int count) {
  for (int i = 0; i < count; i += 4) {
    const int* four = codes + i;
    to[i / 4] = to_byte((four[0] + 1) | (four[1] + 1) << 2 | (four[2] + 1) << 4 | (four[3] + 1) << 6);
  }
}

// Per pair: 32 f16 scales; for each group a plane of 2 bits.
inline void pack_two_bits(const std::byte* const* blocks, int groups, std::byte* record) {
  put_halves(record, blocks, 0);
  for (int row = 0; row < 32; ++row) {
    for (int g = 0; g < groups; ++g) {
      put_plane(record + 64 + 256 * g, row, packed_pairs(blocks[row] + 2 + 8 * g), 2);
    }
  }
}

template <class V>
struct TwoBitTile {
  static constexpr int kMaxCode = 3;
  static constexpr int kZero = 1;

  [[gnu::always_inline]] static typename V::U8x64 codes(const std::byte* record, int tile, int g, int j) {
    return plane_codes<V, 2>(record + 64 + 256 * g, tile, j);
  }
  [[gnu::always_inline]] static typename V::F32x16 scale(const std::byte* record, int tile, int /*g*/, int /*part*/) {
    return half_field<V>(record, tile);
  }
};

}  // namespace plait
