// Q2_0: 64 values of -1 to 2 as 2-bit codes, each stored plus one, and one f16 scale. Elsewhere also "Q2, g64".
#pragma once

#include "formats/simple_encode.h"
#include "formats/two_bits.h"

namespace plait {

struct Q2_0 {
  static constexpr FormatInfo kInfo{.name = "q2_0", .gguf_type = 42, .block_values = 64, .block_bytes = 18};
  static constexpr bool kOneScale = true;

  static void group(const std::byte* block, int g, Group& out) { two_bit_group(block, g, out); }

  static void encode(const float* values, std::byte* block) {
    int codes[64];
    put_u16(block, float_to_f16(encode_ternary(values, 64, codes)));
    put_two_bits(block + 2, codes, 64);
  }

  static void pack(const std::byte* const* blocks, std::byte* record) { pack_two_bits(blocks, 2, record); }

  template <class V>
  using Tile = TwoBitTile<V>;
};

}  // namespace plait
