// Attention of a CPU backend, and the memory it works in.
#pragma once

#include <memory>

#include "backend/cpu/float_ops.h"

namespace plait {

// Taken once, so that a step allocates nothing.
class AttendScratch {
 public:
  explicit AttendScratch(int threads);

  static constexpr int kWorkerFloats = 128 * 1024;   // Of each worker: half a MiB.
  static constexpr int kPartialFloats = 256 * 1024;  // For each worker, of the shares of parts; touched when needed.

  float* worker(int i) { return memory_.get() + static_cast<std::ptrdiff_t>(i) * kWorkerFloats; }
  float* partials() { return memory_.get() + static_cast<std::ptrdiff_t>(threads_) * kWorkerFloats; }
  std::ptrdiff_t partial_floats() const { return static_cast<std::ptrdiff_t>(threads_) * kPartialFloats; }

 private:
  int threads_;
  std::unique_ptr<float[]> memory_;
};

// The widest head that fits: key_dim + value_dim of it.
constexpr int kMaxAttendWidth = 2048;

void attend(const AttendArgs& args, FloatRunner on, AttendScratch& scratch);

}  // namespace plait
