// Buffer, Tensor, Weight: memory of a backend, and the two kinds of views into it.
#pragma once

#include <cstddef>

#include "base/check.h"
#include "base/mat.h"
#include "formats/format.h"

namespace plait {

// Bytes in some backend's memory; it has one owner, and views never outlive it.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual std::size_t bytes() const = 0;
  virtual std::byte* host() = 0;  // Null where the host cannot read it in place.
  // What lies there is not needed any more: its memory may go back to the system until it is written to again.
  virtual void discard(std::size_t /*offset*/, std::size_t /*bytes*/) {}
};

// Activations, [rows = tokens, cols = width], f32. A view that lives for one step.
struct Tensor {
  Buffer* buffer = nullptr;
  std::size_t offset = 0;  // Bytes.
  int rows = 0;
  int cols = 0;
  int stride = 0;  // Elements from one row to the next.

  Tensor slice_rows(int begin, int count) const {
    check(begin >= 0 && count >= 0 && begin + count <= rows, "a row slice lies inside its tensor");
    return {buffer, offset + static_cast<std::size_t>(begin) * static_cast<std::size_t>(stride) * sizeof(float), count,
            cols, stride};
  }
  Tensor slice_cols(int begin, int count) const {  // A head is a slice of columns.
    check(begin >= 0 && count >= 0 && begin + count <= cols, "a column slice lies inside its tensor");
    return {buffer, offset + static_cast<std::size_t>(begin) * sizeof(float), rows, count, stride};
  }
  // The numbers, where they can be read in place.
  Mat<float> host() const { return {reinterpret_cast<float*>(buffer->host() + offset), rows, cols, stride}; }
};

// An immutable matrix as its backend stores it, [rows = outputs, cols = inputs]; or a vector, rows = 1; or a stack of
// such matrices, one for each expert. A view into memory that the Model owns. How it lies there is the backend's choice
// at load; nothing above backend/ may assume the file's layout.
struct Weight {
  const Format* format = nullptr;
  int rows = 0;
  int cols = 0;
  Buffer* buffer = nullptr;
  std::size_t offset = 0;
  std::size_t bytes = 0;       // Taken in the buffer.
  std::size_t file_bytes = 0;  // In the file: what one pass over it counts as read.
  int experts = 1;             // Matrices of a stack; each takes the same part of `bytes`.
};

}  // namespace plait
