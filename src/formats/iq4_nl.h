// IQ4_NL: 32 values as an f16 scale and nibbles that index a table of unevenly spaced integers.
#pragma once

#include "formats/block.h"
#include "formats/encode_table.h"
#include "formats/grids.h"
#include "formats/planes.h"

namespace plait {

struct Iq4Nl {
  static constexpr FormatInfo kInfo{.name = "iq4_nl", .gguf_type = 20, .block_values = 32, .block_bytes = 18};

  // As Q4_0.
  static void group(const std::byte* block, int /*g*/, Group& out) {
    set_scale(out, f16_at(block));
    for (int i = 0; i < 16; ++i) {
      const int pair = u8_at(block + 2 + i);
      out.values[i] = kIq4Nl[pair & 15];
      out.values[i + 16] = kIq4Nl[pair >> 4];
    }
  }

  static void encode(const float* values, std::byte* block) {
    int codes[32];
    put_u16(block, f16_scale(search_table(values)));
    assign_table(values, f16_at(block), codes);
    for (int i = 0; i < 16; ++i) block[2 + i] = to_byte(codes[i] | codes[i + 16] << 4);
  }

  // Per pair: 32 f16 scales; a plane of 4 bits with the places in the table.
  static void pack(const std::byte* const* blocks, std::byte* record) {
    put_halves(record, blocks, 0);
    for (int row = 0; row < 32; ++row) put_plane(record + 64, row, split_nibbles(blocks[row] + 2), 4);
  }

  template <class V>
  struct Tile {
    static constexpr int kMaxCode = 255;
    static constexpr int kZero = V::kZero8;

    [[gnu::always_inline]] static typename V::U8x64 codes(const std::byte* record, int tile, int /*g*/, int j) {
      const typename V::U8x64 index = plane_codes<V, 4>(record + 64, tile, j);
      return V::lookup(V::table16(CodeTable<V, kZero, kIq4Nl>::kCodes.data()), index);
    }
    [[gnu::always_inline]] static typename V::F32x16 scale(const std::byte* record, int tile, int /*g*/, int) {
      return half_field<V>(record, tile);
    }
  };
};

}  // namespace plait
