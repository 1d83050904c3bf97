// The eight 6-bit scales and eight 6-bit mins in 12 bytes that Q4_K and Q5_K share.
#pragma once

#include "formats/block.h"
#include "formats/planes.h"

namespace plait {

// Bytes 0 to 3: scales 0 to 3, above them the top two bits of scales 4 to 7. Bytes 4 to 7: the same for the mins.
// Bytes 8 to 11: the lower four bits of scales 4 to 7, above them those of the mins.
struct KScales {
  static int scale(const std::byte* packed, int k) {
    if (k < 4) return u8_at(packed + k) & 63;
    return (u8_at(packed + k + 4) & 15) | (u8_at(packed + k - 4) >> 6) << 4;
  }

  static int min(const std::byte* packed, int k) {
    if (k < 4) return u8_at(packed + k + 4) & 63;
    return u8_at(packed + k + 4) >> 4 | (u8_at(packed + k) >> 6) << 4;
  }

  static void pack(const int* scales, const int* mins, std::byte* packed) {
    for (int k = 0; k < 4; ++k) {
      packed[k] = to_byte(scales[k] | (scales[k + 4] >> 4) << 6);
      packed[k + 4] = to_byte(mins[k] | (mins[k + 4] >> 4) << 6);
      packed[k + 8] = to_byte((scales[k + 4] & 15) | (mins[k + 4] & 15) << 4);
    }
  }

  // For the kernels, in 12 fields of 32 rows: scale k and above it the low two bits of min k; then, for each two k, the
  // high four bits of their mins.
  static void put_packed(const std::byte* packed, std::byte* fields, int row) {
    for (int k = 0; k < 8; ++k) fields[32 * k + row] = to_byte(scale(packed, k) | (min(packed, k) & 3) << 6);
    for (int k = 0; k < 8; k += 2) {
      fields[256 + 16 * k + row] = to_byte(min(packed, k) >> 2 | (min(packed, k + 1) >> 2) << 4);
    }
  }

  template <class V>
  [[gnu::always_inline]] static typename V::I32x16 packed_scale(const std::byte* fields, int tile, int k) {
    return V::and_int(byte_field<V>(fields + 32 * k, tile), 63);
  }

  template <class V>
  [[gnu::always_inline]] static typename V::I32x16 packed_min(const std::byte* fields, int tile, int k) {
    const typename V::I32x16 low = V::template shift_right_int<6>(byte_field<V>(fields + 32 * k, tile));
    const typename V::I32x16 high = nibble_field<V>(fields + 256 + 32 * (k / 2), tile, k % 2 != 0);
    return V::or_int(low, V::template shift_left_int<2>(high));
  }
};

}  // namespace plait
