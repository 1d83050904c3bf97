// F32: values as they are.
#pragma once

#include "formats/block.h"

namespace plait {

struct F32 {
  static constexpr FormatInfo kInfo{.name = "f32", .gguf_type = 0, .block_bytes = 4, .is_float = true};

  static float value(const std::byte* at) { return std::bit_cast<float>(u32_at(at)); }

  static void encode(const float* value, std::byte* at) {
    const auto bits = std::bit_cast<std::uint32_t>(*value);
    put_u16(at, static_cast<std::uint16_t>(bits & 0xffff));
    put_u16(at + 2, static_cast<std::uint16_t>(bits >> 16));
  }
};

}  // namespace plait
