// What a weight format is: the numbers of its blocks, and the functions each format's file provides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace plait {

// A format cuts a row into blocks of `block_values` values. Quantized formats cut a block into groups of 32 values
// (a block shorter than 32 does not exist among them); weight i of a group is scale * (code[i] - zero) - min, with
// `scales_per_group` scales (two: one for each 16 values) and, if `has_mins`, as many mins (linear-kernels.md, 1).
struct FormatInfo {
  std::string_view name;     // As in GGUF, lower case: "q4_k".
  int gguf_type = -1;        // Tensor type id in a GGUF file; below -1: of no such file, a number of our own.
  int block_values = 1;      // Values of one block.
  int block_bytes = 0;       // Bytes of one block.
  int scales_per_group = 1;  // 1 or 2.
  bool has_mins = false;
  bool is_float = false;    // f32, f16, bf16: no groups; values are widened exactly.
  bool can_compute = true;  // false: the integer types and f64, which can be listed and, f64 apart, not decoded.

  constexpr bool in_gguf() const { return gguf_type >= 0; }
};

// Blocks of a row. A row is made of whole blocks, but where a block is 32 values the last one may end early: kernels
// multiply what it holds beyond the row's end with zeros, decoding does not read it.
constexpr std::int64_t row_blocks(const FormatInfo& info, std::int64_t values) {
  return (values + info.block_values - 1) / info.block_values;
}

// One group of 32 weights as integers and scales; the definition that every packed layout must reproduce.
struct Group {
  std::int8_t values[32];  // code - zero.
  float scales[2];         // scales[1] only if scales_per_group is 2.
  float mins[2];           // Zero if the format has none.
};

// A quantized format is a struct in its own file:
//   struct Q4_0 {
//     static constexpr FormatInfo kInfo{...};
//     static void group(const std::byte* block, int g, Group& out);       // decodes group g of a block
//     static void encode(const float* values, std::byte* block);          // optional: one block, plain scalar code
//     static void encode_row(const float* values, std::int64_t count, std::byte* row);    // or a whole row, where a
//     scale is of the row or the last block may end early
//     template <class V> struct Tile { ... };                             // optional: the packed layout, see
//     kernels/linear.h
//   };

// A format as a table of plain functions, for code that meets formats at run time.
struct Format {
  FormatInfo info;
  void (*group)(const std::byte* block, int g, Group& out) = nullptr;                 // Quantized formats only.
  void (*decode)(const std::byte* row, std::int64_t values, float* out) = nullptr;    // A whole row to f32.
  void (*encode)(const float* values, std::int64_t count, std::byte* row) = nullptr;  // A whole row; null: no encoder.
};

}  // namespace plait
