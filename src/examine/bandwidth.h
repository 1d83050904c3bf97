// How fast this machine reads memory: what decoding is held against.
#pragma once

#include <cstdint>
#include <memory>

#include "base/thread_pool.h"

namespace plait {

// Reads a buffer far larger than the caches, on all threads of a pool.
class ReadBandwidth {
 public:
  explicit ReadBandwidth(ThreadPool& pool);  // The pool outlives it.

  // The best of `passes`, in GB/s (1e9 bytes a second); 0 where memory was too short for the buffer.
  double gbps(int passes = 5);

 private:
  ThreadPool& pool_;
  std::unique_ptr<std::uint64_t[], void (*)(void*)> data_;
};

}  // namespace plait
