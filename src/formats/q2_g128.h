// q2_g128: 128 values of -1 to 2 as 2-bit codes, each stored plus one, and one f16 scale: Q2_0 with blocks twice as
// long. Not in GGUF.
#pragma once

#include "formats/search.h"
#include "formats/simple_encode.h"
#include "formats/two_bits.h"

namespace plait {

struct Q2G128 {
  static constexpr FormatInfo kInfo{.name = "q2_g128", .gguf_type = -5, .block_values = 128, .block_bytes = 34};
  static constexpr bool kOneScale = true;

  static void group(const std::byte* block, int g, Group& out) { two_bit_group(block, g, out); }

  // The value of largest magnitude becomes one scale or two, whichever has the smaller squared error; one if equal.
  static void encode(const float* values, std::byte* block) {
    float extreme = 0;
    for (int i = 0; i < 128; ++i) {
      if (std::fabs(values[i]) > std::fabs(extreme)) extreme = values[i];
    }
    float best_error = -1;
    for (const float wanted : {std::fabs(extreme), extreme / 2}) {
      const std::uint16_t bits = f16_scale(wanted);
      const float scale = f16_to_float(bits), inverse = finite_inverse(scale);
      int codes[128];
      float error = 0;
      for (int i = 0; i < 128; ++i) {
        codes[i] = round_away(std::clamp(values[i] * inverse, -1.0f, 2.0f));
        const float difference = scale * static_cast<float>(codes[i]) - values[i];
        error += difference * difference;
      }
      if (best_error >= 0 && !(error < best_error)) continue;
      best_error = error;
      put_u16(block, bits);
      put_two_bits(block + 2, codes, 128);
    }
  }

  static void pack(const std::byte* const* blocks, std::byte* record) { pack_two_bits(blocks, 4, record); }

  template <class V>
  using Tile = TwoBitTile<V>;
};

}  // namespace plait
