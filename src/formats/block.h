// Reading the little-endian fields of a block.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/half.h"
#include "formats/format.h"

namespace plait {

inline int u8_at(const std::byte* at) { return std::to_integer<int>(*at); }

inline std::uint16_t u16_at(const std::byte* at) { return static_cast<std::uint16_t>(u8_at(at) | u8_at(at + 1) << 8); }

inline std::uint32_t u32_at(const std::byte* at) {
  return static_cast<std::uint32_t>(u16_at(at)) | static_cast<std::uint32_t>(u16_at(at + 2)) << 16;
}

inline float f32_at(const std::byte* at) { return std::bit_cast<float>(u32_at(at)); }
inline float f16_at(const std::byte* at) { return f16_to_float(u16_at(at)); }

inline void put_u16(std::byte* at, std::uint16_t value) {
  at[0] = static_cast<std::byte>(value & 0xff);
  at[1] = static_cast<std::byte>(value >> 8);
}

inline void put_f32(std::byte* at, float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  put_u16(at, static_cast<std::uint16_t>(bits & 0xffffu));
  put_u16(at + 2, static_cast<std::uint16_t>(bits >> 16));
}

// The value's low 8 bits.
inline std::byte to_byte(int value) { return static_cast<std::byte>(value & 0xff); }

inline std::int8_t to_i8(int value) { return static_cast<std::int8_t>(value); }

// For formats with one scale a group.
inline void set_scale(Group& out, float scale, float min = 0) {
  out.scales[0] = out.scales[1] = scale;
  out.mins[0] = out.mins[1] = min;
}

}  // namespace plait
