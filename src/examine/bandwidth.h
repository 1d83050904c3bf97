// How fast this machine reads memory: what decoding is held against.
#pragma once

#include "base/thread_pool.h"

namespace plait {

// The best of `rounds` passes over a buffer far larger than the caches, in bytes a second (1e9 of them are a GB/s).
double read_bandwidth(ThreadPool& pool, int rounds = 5);

}  // namespace plait
