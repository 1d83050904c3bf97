// Planes: how the codes of 32 rows lie in memory for the kernels (linear-kernels.md 4), written and read.
//
// A tile is 16 rows, interleaved by 4 bytes: dword j of a group (values 4j to 4j + 3) of all its rows is 64 consecutive
// bytes. Planes of 4, 2 and 1 bits put 2, 4 and 8 dwords into the same 64 bytes. Two tiles of a pair follow each other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "formats/block.h"

namespace plait {

// The 32 codes of a group as eight dwords of four bytes.
struct CodeWords {
  std::uint32_t word[8];
};

inline std::uint32_t load_word(const std::byte* at) {
  std::uint32_t word;
  std::memcpy(&word, at, 4);
  return word;
}

// 16 bytes: values 0 to 15 in the low nibbles, 16 to 31 in the high ones.
inline CodeWords split_nibbles(const std::byte* at) {
  CodeWords codes;
  for (int j = 0; j < 4; ++j) {
    const std::uint32_t pair = load_word(at + 4 * j);
    codes.word[j] = pair & 0x0f0f0f0fu;
    codes.word[j + 4] = pair >> 4 & 0x0f0f0f0fu;
  }
  return codes;
}

// 16 bytes: value i in the low nibble of byte i / 2 if i is even, else in the high one.
inline CodeWords paired_nibbles(const std::byte* at) {
  CodeWords codes;
  for (int j = 0; j < 8; ++j) {
    const std::uint32_t four = u16_at(at + 2 * j);
    codes.word[j] = (four & 15) | (four & 0xf0) << 4 | (four & 0xf00) << 8 | (four & 0xf000) << 12;
  }
  return codes;
}

// 8 bytes: value i in bits 2 (i % 4) of byte i / 4.
inline CodeWords packed_pairs(const std::byte* at) {
  CodeWords codes;
  for (int j = 0; j < 8; ++j) {
    const auto four = static_cast<std::uint32_t>(u8_at(at + j));
    codes.word[j] = (four & 3) | (four & 12) << 6 | (four & 48) << 12 | (four & 192) << 18;
  }
  return codes;
}

// 32 bytes, of which each holds a code at bit `shift`.
inline CodeWords bit_fields(const std::byte* at, int shift, int bits) {
  const std::uint32_t mask = 0x01010101u * ((1u << bits) - 1);
  CodeWords codes;
  for (int j = 0; j < 8; ++j) codes.word[j] = load_word(at + 4 * j) >> shift & mask;
  return codes;
}

// 4 bytes: the code of value i is bit i.
inline CodeWords single_bits(const std::byte* at) {
  const std::uint32_t all = load_word(at);
  CodeWords codes;
  for (int j = 0; j < 8; ++j) {
    const std::uint32_t four = all >> 4 * j & 15;
    codes.word[j] = (four & 1) | (four & 2) << 7 | (four & 4) << 14 | (four & 8) << 21;
  }
  return codes;
}

// Writes the codes of one row (0 to 31 of the pair) of one group. `plane` is the group's plane of both tiles: 1024,
// 512, 256 or 128 bytes.
inline void put_plane(std::byte* plane, int row, const CodeWords& codes, int bits) {
  const int dwords = 8 / bits;  // That share a line.
  std::byte* at = plane + row / 16 * 64 * bits + row % 16 * 4;
  for (int line = 0; line < bits; ++line, at += 64) {
    std::uint32_t word = 0;
    for (int i = 0; i < dwords; ++i) word |= codes.word[line * dwords + i] << bits * i;
    std::memcpy(at, &word, 4);
  }
}

// Copies `size` bytes of each of 32 blocks, from `offset` on, to fields of 32 bytes, or to one field of 32 f16 or f32.
inline void put_halves(std::byte* to, const std::byte* const* blocks, int offset) {
  for (int row = 0; row < 32; ++row) std::memcpy(to + 2 * row, blocks[row] + offset, 2);
}
inline void put_floats(std::byte* to, const std::byte* const* blocks, int offset) {
  for (int row = 0; row < 32; ++row) std::memcpy(to + 4 * row, blocks[row] + offset, 4);
}
inline void put_bytes(std::byte* to, const std::byte* const* blocks, int offset, int size) {
  for (int row = 0; row < 32; ++row) {
    for (int i = 0; i < size; ++i) to[32 * i + row] = blocks[row][offset + i];
  }
}

// The line's bits from bit `from` on moved to bit `to`; what lies beside them is for a mask to remove.
template <class V>
[[gnu::always_inline]] inline typename V::U8x64 move_bits(typename V::U8x64 line, int from, int to) {
  switch (from - to) {
    case -4:
      return V::template shift_left16<4>(line);
    case -3:
      return V::template shift_left16<3>(line);
    case -2:
      return V::template shift_left16<2>(line);
    case -1:
      return V::template shift_left16<1>(line);
    case 1:
      return V::template shift_right16<1>(line);
    case 2:
      return V::template shift_right16<2>(line);
    case 3:
      return V::template shift_right16<3>(line);
    case 4:
      return V::template shift_right16<4>(line);
    case 5:
      return V::template shift_right16<5>(line);
    case 6:
      return V::template shift_right16<6>(line);
    default:
      return line;
  }
}

// Dword j of one tile's plane of kBits bits, its codes moved to bit `to`.
template <class V, int kBits>
[[gnu::always_inline]] inline typename V::U8x64 plane_codes(const std::byte* plane, int tile, int j, int to = 0) {
  constexpr int kDwords = 8 / kBits;
  const typename V::U8x64 line = V::load_bytes(plane + tile * 64 * kBits + j / kDwords * 64);
  return V::and_bytes(move_bits<V>(line, j % kDwords * kBits, to), ((1 << kBits) - 1) << to);
}

// Sixteen values as codes with `kZero` added, where a code is looked up.
template <class V, int kZero, const std::int8_t (&kValues)[16]>
struct CodeTable {
  static constexpr std::array<std::uint8_t, 16> make() {
    std::array<std::uint8_t, 16> codes{};
    for (std::size_t i = 0; i < 16; ++i) codes[i] = static_cast<std::uint8_t>(kValues[i] + kZero);
    return codes;
  }
  static constexpr std::array<std::uint8_t, 16> kCodes = make();
};

// A field of 32 f16, 32 f32 or 32 bytes, for the sixteen rows of a tile.
template <class V>
[[gnu::always_inline]] inline typename V::F32x16 half_field(const std::byte* field, int tile) {
  return V::half16(field + 32 * tile);
}
template <class V>
[[gnu::always_inline]] inline typename V::F32x16 float_field(const std::byte* field, int tile) {
  return V::load(reinterpret_cast<const float*>(field + 64 * tile));
}
template <class V>
[[gnu::always_inline]] inline typename V::I32x16 byte_field(const std::byte* field, int tile) {
  return V::u8_int16(field + 16 * tile);
}
// The nibble of each byte: the low one, or the high one if `high`.
template <class V>
[[gnu::always_inline]] inline typename V::I32x16 nibble_field(const std::byte* field, int tile, bool high) {
  const typename V::I32x16 both = byte_field<V>(field, tile);
  return high ? V::template shift_right_int<4>(both) : V::and_int(both, 15);
}

}  // namespace plait
