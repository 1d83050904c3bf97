// Packing: from a file's rows to the pairs of tiles that the kernels read.
#pragma once

#include <cstddef>
#include <span>

#include "formats/format.h"

namespace plait {

struct PackSource {
  const std::byte* rows = nullptr;  // The pair's rows in the file, `row_bytes` apart.
  std::size_t row_bytes = 0;
  int count = 0;  // Of rows, at most 32; the rest of the pair is padded.
  int cols = 0;
};

struct Packer {
  int gguf_type = -1;
  void (*pack)(const PackSource& source, std::byte* pair) = nullptr;
};

// Null if the format has no packed layout: its weights stay as they are.
const Packer* find_packer(int gguf_type);

// Bytes of one row in a file.
std::size_t file_row_bytes(const FormatInfo& info, int cols);

// Widens a pair of rows of any quantized format to the layout of Expanded (kernels/tile.h).
void expand_pair(const Format& format, const PackSource& source, std::byte* pair);

// Decodes a pair of rows of any quantized format to [cols][32 rows], with the values of Format::decode.
void decode_pair(const Format& format, const PackSource& source, float* pair);

}  // namespace plait
