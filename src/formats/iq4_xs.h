// IQ4_XS: 256 values as nibbles into the table of IQ4_NL; a 6-bit scale for each 32, over an f16 scale.
#pragma once

#include "formats/block.h"
#include "formats/encode_table.h"
#include "formats/grids.h"
#include "formats/planes.h"

namespace plait {

struct Iq4Xs {
  static constexpr FormatInfo kInfo{.name = "iq4_xs", .gguf_type = 23, .block_values = 256, .block_bytes = 136};

  // f16 scale; a word with the upper two bits of the eight scales (stored plus 32), 4 bytes with their lower nibbles;
  // 16 bytes of nibbles a group, as in Q4_0.
  static void group(const std::byte* block, int g, Group& out) {
    const int low = u8_at(block + 4 + g / 2) >> 4 * (g % 2) & 15;
    const int high = u16_at(block + 2) >> 2 * g & 3;
    set_scale(out, f16_at(block) * static_cast<float>((low | high << 4) - 32));
    for (int i = 0; i < 16; ++i) {
      const int pair = u8_at(block + 8 + 16 * g + i);
      out.values[i] = kIq4Nl[pair & 15];
      out.values[i + 16] = kIq4Nl[pair >> 4];
    }
  }

  static void encode(const float* values, std::byte* block) {
    float scales[8];
    float extreme = 0;
    for (int g = 0; g < 8; ++g) {
      scales[g] = search_table(values + 32 * g);
      if (std::fabs(scales[g]) > std::fabs(extreme)) extreme = scales[g];
    }
    std::fill_n(block, kInfo.block_bytes, std::byte{0});
    put_u16(block, f16_scale(extreme / -32));
    int high = 0;
    for (int g = 0; g < 8; ++g) {
      const int code = encode_group(values + 32 * g, scales[g], f16_at(block), block + 8 + 16 * g) + 32;
      block[4 + g / 2] |= to_byte((code & 15) << 4 * (g % 2));
      high |= (code >> 4) << 2 * g;
    }
    put_u16(block + 2, static_cast<std::uint16_t>(high));
  }

  // Tries the scale codes around the fitted scale; writes the best one's nibbles and returns it.
  static int encode_group(const float* values, float fitted, float unit, std::byte* nibbles) {
    const float around = nearest(std::clamp(fitted * inverse_or_zero(unit), -32.0f, 31.0f));
    float best_error = -1;
    int best = 0;
    for (float code = std::max(around - 1, -32.0f); code <= std::min(around + 1, 31.0f); ++code) {
      int codes[32];
      const float error = assign_table(values, unit * code, codes);
      if (best_error >= 0 && !(error < best_error)) continue;
      best_error = error;
      best = static_cast<int>(code);
      for (int i = 0; i < 16; ++i) nibbles[i] = to_byte(codes[i] | codes[i + 16] << 4);
    }
    return best;
  }

  // Per pair: 32 f16 scales; for each two groups 32 bytes: the low nibbles of their scales; for each four groups 32
  // bytes: the high pairs; for each group a plane of 4 bits with the places in the table.
  static void pack(const std::byte* const* blocks, std::byte* record) {
    put_halves(record, blocks, 0);
    put_bytes(record + 64, blocks, 4, 4);
    put_bytes(record + 192, blocks, 2, 2);
    for (int row = 0; row < 32; ++row) {
      for (int g = 0; g < 8; ++g) {
        put_plane(record + kCodesAt + 512 * g, row, split_nibbles(blocks[row] + 8 + 16 * g), 4);
      }
    }
  }

  template <class V>
  struct Tile {
    static constexpr int kMaxCode = 255;
    static constexpr int kZero = V::kZero8;

    [[gnu::always_inline]] static typename V::U8x64 codes(const std::byte* record, int tile, int g, int j) {
      const typename V::U8x64 index = plane_codes<V, 4>(record + kCodesAt + 512 * g, tile, j);
      return V::lookup(V::table16(CodeTable<V, kZero, kIq4Nl>::kCodes.data()), index);
    }
    [[gnu::always_inline]] static typename V::F32x16 scale(const std::byte* record, int tile, int g, int) {
      const typename V::I32x16 low = nibble_field<V>(record + 64 + 32 * (g / 2), tile, g % 2 != 0);
      typename V::I32x16 high = nibble_field<V>(record + 192 + 32 * (g / 4), tile, g % 4 >= 2);
      high = g % 2 != 0 ? V::template shift_right_int<2>(high) : V::and_int(high, 3);
      const typename V::I32x16 code = V::or_int(low, V::template shift_left_int<4>(high));
      return V::mul(half_field<V>(record, tile), V::to_float(V::sub(code, V::set_int(32))));
    }
  };

 private:
  static constexpr int kCodesAt = 256;
};

}  // namespace plait
