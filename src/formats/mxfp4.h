// MXFP4: 32 four-bit floats (E2M1) and a power of two.
#pragma once

#include "formats/block.h"
#include "formats/grids.h"
#include "formats/planes.h"

namespace plait {

struct Mxfp4 {
  static constexpr FormatInfo kInfo{.name = "mxfp4", .gguf_type = 39, .block_values = 32, .block_bytes = 17};

  // Exponent byte e; 16 bytes of nibbles as in Q4_0. Codes are doubled, so the scale is half of 2^(e - 127). 255, which
  // the standard calls NaN and no encoder writes, is 2^128 as elsewhere.
  static void group(const std::byte* block, int /*g*/, Group& out) {
    set_scale(out, half_power(u8_at(block)));
    for (int i = 0; i < 16; ++i) {
      const int pair = u8_at(block + 1 + i);
      out.values[i] = kE2m1Doubled[pair & 15];
      out.values[i + 16] = kE2m1Doubled[pair >> 4];
    }
  }

  // 2^(exponent - 128). The first two are denormal.
  static float half_power(int exponent) {
    const auto bits = exponent < 2 ? 0x200000u << exponent : static_cast<std::uint32_t>(exponent - 1) << 23;
    return std::bit_cast<float>(bits);
  }

  // The largest magnitude falls into the last octave of the codes.
  static void encode(const float* values, std::byte* block) {
    float largest = 0;
    for (int i = 0; i < 32; ++i) largest = std::max(largest, std::fabs(values[i]));
    const int exponent = std::max(static_cast<int>(std::bit_cast<std::uint32_t>(largest) >> 23) - 2, 0);
    block[0] = to_byte(exponent);
    const float scale = half_power(exponent);
    for (int i = 0; i < 16; ++i) {
      block[1 + i] = to_byte(nearest_e2m1(values[i], scale) | nearest_e2m1(values[i + 16], scale) << 4);
    }
  }

  // Per pair: 32 exponents; a plane of 4 bits with the places in the table.
  static void pack(const std::byte* const* blocks, std::byte* record) {
    put_bytes(record, blocks, 0, 1);
    for (int row = 0; row < 32; ++row) put_plane(record + 32, row, split_nibbles(blocks[row] + 1), 4);
  }

  template <class V>
  struct Tile {
    static constexpr int kMaxCode = 24;
    static constexpr int kZero = 12;

    [[gnu::always_inline]] static typename V::U8x64 codes(const std::byte* record, int tile, int /*g*/, int j) {
      const typename V::U8x64 index = plane_codes<V, 4>(record + 32, tile, j);
      return V::lookup(V::table16(CodeTable<V, kZero, kE2m1Doubled>::kCodes.data()), index);
    }
    [[gnu::always_inline]] static typename V::F32x16 scale(const std::byte* record, int tile, int /*g*/, int) {
      // 2^(e - 128) as a product of two powers, so that the smallest become denormal.
      const typename V::I32x16 e = byte_field<V>(record, tile);
      const typename V::I32x16 half = V::template shift_right_int<1>(e), bias = V::set_int(64);
      const typename V::F32x16 first = V::scale_by_power(V::set(1.0f), V::sub(half, bias));
      return V::mul(first, V::scale_by_power(V::set(1.0f), V::sub(V::sub(e, half), bias)));
    }
  };
};

}  // namespace plait
