// The eight 6-bit scales and eight 6-bit mins in 12 bytes that Q4_K and Q5_K share.
#pragma once

#include "formats/block.h"

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
};

}  // namespace plait
