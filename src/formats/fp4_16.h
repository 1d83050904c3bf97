// fp4_16: four-bit floats (E2M1), with an eight-bit float (E4M3) as the scale of each 16. A block is two times 16.
#pragma once

#include "formats/block.h"
#include "formats/grids.h"
#include "formats/planes.h"
#include "formats/search.h"

namespace plait {

struct Fp4_16 {
  static constexpr FormatInfo kInfo{
      .name = "fp4_16", .gguf_type = -4, .block_values = 32, .block_bytes = 18, .scales_per_group = 2};

  // Two scales; 16 bytes: value i in the low nibble of byte i / 2 if i is even, else in the high one. Codes are
  // doubled.
  static void group(const std::byte* block, int /*g*/, Group& out) {
    out.mins[0] = out.mins[1] = 0;
    for (int h = 0; h < 2; ++h) out.scales[h] = half_scale(u8_at(block + h));
    for (int i = 0; i < 32; ++i) out.values[i] = kE2m1Doubled[u8_at(block + 2 + i / 2) >> 4 * (i % 2) & 15];
  }

  // Half the value of an E4M3 number, denormal ones included. Its sign is not read and 127 (NaN in the standard) counts
  // as 480: no encoder writes either.
  static float half_scale(int byte) {
    const auto bits = static_cast<std::uint32_t>(byte & 0x7f);
    if (bits < 8) return static_cast<float>(bits) * 0x1p-10f;
    return std::bit_cast<float>((bits << 20) + kHalfBias);
  }

  // The byte of the E4M3 number nearest to value >= 0, the even one of two; from 448 on the largest.
  static int nearest_scale(float value) {
    if (!(value < 448)) return 0x7e;
    if (value < 0x1p-6f) return static_cast<int>(nearest(value * 512));
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return static_cast<int>((bits + 0x7ffffu + (bits >> 20 & 1)) >> 20) - ((127 - 7) << 3);
  }

  // The code whose magnitude is nearest to that of `ratio`, the smaller one of two; -0 has a code too.
  static int nearest_code(float ratio) {
    const auto error = [&](int code) { return std::fabs(0.5f * kE2m1Doubled[code] - std::fabs(ratio)); };
    int best = 0;
    for (int code = 1; code < 8; ++code) {
      if (error(code) < error(best)) best = code;
    }
    return best | (ratio < 0 ? 8 : 0);
  }

  // What is beyond the row's end counts as zeros.
  static void encode_row(const float* values, std::int64_t count, std::byte* row) {
    for (std::int64_t begin = 0; begin < count; begin += 32, row += kInfo.block_bytes) {
      float x[32] = {};
      std::copy_n(values + begin, std::min<std::int64_t>(32, count - begin), x);
      int codes[32];
      for (int h = 0; h < 2; ++h) {
        float largest = 0;
        for (int i = 16 * h; i < 16 * h + 16; ++i) largest = std::max(largest, std::fabs(x[i]));
        const int byte = nearest_scale(largest / 6);
        row[h] = to_byte(byte);
        const float scale = byte == 0 ? 1 : 2 * half_scale(byte);
        for (int i = 16 * h; i < 16 * h + 16; ++i) codes[i] = nearest_code(x[i] / scale);
      }
      for (int i = 0; i < 16; ++i) row[2 + i] = to_byte(codes[2 * i] | codes[2 * i + 1] << 4);
    }
  }

  // Per pair: for each 16 values 32 scales; a plane of 4 bits with the places in the table.
  static void pack(const std::byte* const* blocks, std::byte* record) {
    put_bytes(record, blocks, 0, 2);
    for (int row = 0; row < 32; ++row) put_plane(record + kCodesAt, row, paired_nibbles(blocks[row] + 2), 4);
  }

  template <class V>
  struct Tile {
    static constexpr int kMaxCode = 24;
    static constexpr int kZero = 12;

    [[gnu::always_inline]] static typename V::U8x64 codes(const std::byte* record, int tile, int /*g*/, int j) {
      const typename V::U8x64 index = plane_codes<V, 4>(record + kCodesAt, tile, j);
      return V::lookup(V::table16(CodeTable<V, kZero, kE2m1Doubled>::kCodes.data()), index);
    }
    [[gnu::always_inline]] static typename V::F32x16 scale(const std::byte* record, int tile, int /*g*/, int part) {
      const typename V::I32x16 bits = V::and_int(byte_field<V>(record + 32 * part, tile), 0x7f);
      const typename V::I32x16 moved = V::template shift_left_int<20>(bits);
      const typename V::F32x16 normal = V::from_bits(V::add(moved, V::set_int(static_cast<int>(kHalfBias))));
      const typename V::F32x16 denormal = V::mul(V::to_float(bits), V::set(0x1p-10f));
      return V::select(V::less(normal, V::set(0x1p-7f)), denormal, normal);
    }
  };

 private:
  static constexpr int kCodesAt = 64;
  static constexpr std::uint32_t kHalfBias = (127 - 7 - 1) << 23;  // From E4M3's bias to that of f32, halved.
};

}  // namespace plait
