// for_each_row(): rows of a tensor over the workers, or on the caller alone where that is sooner done.
#pragma once

#include <cstdint>
#include <functional>

#include "base/float_mode.h"
#include "base/thread_pool.h"

namespace plait {

// Numbers below which waking the workers costs more than it saves: some microseconds of work.
constexpr std::int64_t kNumbersWorthSharing = 16'384;

// Calls body(row) for each of `rows` rows of `width` numbers. Which worker does a row changes nothing.
template <class Body>
void for_each_row(ThreadPool& pool, int rows, int width, const Body& body) {
  const auto range = [&body](int begin, int end, int) {
    for (int row = begin; row < end; ++row) body(row);
  };
  if (static_cast<std::int64_t>(rows) * width < kNumbersWorthSharing) {
    const FloatMode mode;
    range(0, rows, 0);
    return;
  }
  pool.parallel_for(rows, range);  // One pointer is captured: nothing is allocated.
}

}  // namespace plait
