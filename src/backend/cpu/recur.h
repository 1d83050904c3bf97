// The recurrence of a CPU backend, and the memory it works in.
#pragma once

#include <memory>

#include "backend/cpu/float_ops.h"

namespace plait {

// Taken once, so that a step allocates nothing.
class RecurScratch {
 public:
  explicit RecurScratch(int threads);
  float* worker(int i) { return memory_.get() + static_cast<std::size_t>(i) * kRecurScratchFloats; }

 private:
  std::unique_ptr<float[]> memory_;
};

void recur(const RecurArgs& args, FloatRunner on, RecurScratch& scratch);

// The rows and anchors of a convolution's inputs; see ConvArgs.
void conv(const ConvArgs& args, FloatRunner on);

}  // namespace plait
