// Mat<T>: a row-major matrix in host memory. A view: copying it copies no numbers.
#pragma once

#include <cstddef>
#include <span>

namespace plait {

template <class T>
struct Mat {
  T* data = nullptr;
  int rows = 0;
  int cols = 0;
  int stride = 0;  // Elements from one row to the next.

  T* row(int i) const { return data + static_cast<std::ptrdiff_t>(i) * stride; }
  std::span<T> operator[](int i) const { return {row(i), static_cast<std::size_t>(cols)}; }
};

}  // namespace plait
