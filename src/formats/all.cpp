// The list of weight formats as a table, and the row functions that are the same for all of them.
#include "formats/all.h"

#include <algorithm>
#include <array>

#include "formats/list.h"

namespace plait {
namespace {

// A value is a product rounded once, then a difference rounded once: never fused.
template <class F>
void decode_blocks(const std::byte* row, std::int64_t values, float* out) {
  constexpr int kPart = 32 / F::kInfo.scales_per_group;
  for (std::int64_t begin = 0; begin < values; begin += F::kInfo.block_values, row += F::kInfo.block_bytes) {
    for (int g = 0; g < F::kInfo.block_values / 32; ++g) {
      Group group;
      F::group(row, g, group);
      float* const to = out + begin + 32 * g;
      const auto count = static_cast<int>(std::min<std::int64_t>(32, values - begin - 32 * g));
      for (int i = 0; i < count; ++i) {
        to[i] = static_cast<float>(group.values[i]) * group.scales[i / kPart];
        if constexpr (F::kInfo.has_mins) to[i] -= group.mins[i / kPart];
      }
    }
  }
}

template <class F>
void decode_floats(const std::byte* row, std::int64_t values, float* out) {
  for (std::int64_t i = 0; i < values; ++i) out[i] = F::value(row + i * F::kInfo.block_bytes);
}

void decode_f64(const std::byte* row, std::int64_t values, float* out) {
  for (std::int64_t i = 0; i < values; ++i) {
    const std::uint64_t bits = u32_at(row + i * 8) | static_cast<std::uint64_t>(u32_at(row + i * 8 + 4)) << 32;
    out[i] = static_cast<float>(std::bit_cast<double>(bits));
  }
}

template <class F>
void encode_row(const float* values, std::int64_t count, std::byte* row) {
  for (std::int64_t begin = 0; begin < count; begin += F::kInfo.block_values, row += F::kInfo.block_bytes) {
    F::encode(values + begin, row);
  }
}

template <class F>
constexpr Format make_format() {
  Format format{.info = F::kInfo};
  if constexpr (F::kInfo.is_float) {
    format.decode = decode_floats<F>;
  } else {
    format.group = F::group;
    format.decode = decode_blocks<F>;
  }
  if constexpr (requires(const float* values, std::byte* row) { F::encode_row(values, 1, row); }) {
    format.encode = F::encode_row;
  } else if constexpr (requires(const float* values, std::byte* block) { F::encode(values, block); }) {
    format.encode = encode_row<F>;
  }
  return format;
}

// Listed, not computed with.
constexpr Format make_plain(std::string_view name, int gguf_type, int bytes) {
  return {.info = {.name = name, .gguf_type = gguf_type, .block_bytes = bytes, .can_compute = false}};
}

constexpr Format make_f64() {
  Format format = make_plain("f64", 28, 8);
  format.decode = decode_f64;
  return format;
}

template <class... Floats, class... Quantized>
constexpr auto make_table(FormatList<Floats...>, FormatList<Quantized...>) {
  return std::array{make_format<Floats>()...,
                    make_format<Quantized>()...,
                    make_plain("i8", 24, 1),
                    make_plain("i16", 25, 2),
                    make_plain("i32", 26, 4),
                    make_plain("i64", 27, 8),
                    make_f64()};
}

constexpr auto kFormats = make_table(FloatFormats{}, QuantizedFormats{});

struct UnsupportedType {
  int gguf_type;
  std::string_view name;
};

constexpr UnsupportedType kUnsupported[] = {
    {4, "retired q4_2"},
    {5, "retired q4_3"},
    {9, "q8_1"},
    {15, "q8_k"},
    {31, "retired q4_0_4_4"},
    {32, "retired q4_0_4_8"},
    {33, "retired q4_0_8_8"},
    {36, "retired iq4_nl_4_4"},
    {37, "retired iq4_nl_4_8"},
    {38, "retired iq4_nl_8_8"},
};

// From here on the numbers belong to ik_llama.cpp.
constexpr int kFirstForkType = 97;

}  // namespace

std::span<const Format> all_formats() { return kFormats; }

const Format* find_format(int gguf_type) {
  for (const Format& format : kFormats) {
    if (format.info.gguf_type == gguf_type) return &format;
  }
  return nullptr;
}

const Format* find_format(std::string_view name) {
  for (const Format& format : kFormats) {
    if (format.info.name == name) return &format;
  }
  return nullptr;
}

std::string_view unsupported_format_name(int gguf_type) {
  for (const UnsupportedType& type : kUnsupported) {
    if (type.gguf_type == gguf_type) return type.name;
  }
  return gguf_type >= kFirstForkType ? "a type of ik_llama.cpp" : "";
}

}  // namespace plait
