// RawTensor: a named tensor as its file holds it. A view into memory that the file owns.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "formats/format.h"

namespace plait {

struct RawTensor {
  std::string_view name;
  const Format* format = nullptr;
  std::array<std::int64_t, 4> extents{1, 1, 1, 1};  // GGUF order: extents[0] is contiguous, the length of a row.
  int dimensions = 1;
  const std::byte* data = nullptr;  // Null in a listing that holds no weights.
  std::size_t bytes = 0;

  std::int64_t cols() const { return extents[0]; }
  std::int64_t rows() const { return extents[1] * extents[2] * extents[3]; }
  std::int64_t values() const { return cols() * rows(); }
};

}  // namespace plait
