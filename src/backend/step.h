// Step: what one pass works with; Workspace: the scratch memory it takes its tensors from.
#pragma once

#include <span>

#include "backend/backend.h"
#include "backend/batch.h"

namespace plait {

// Scratch memory for one step at a time, sized once. Tensors taken after a mark() end with release(mark).
class Workspace {
 public:
  explicit Workspace(Buffer& buffer) : buffer_(buffer) {}

  // Rows are 64-byte aligned. The numbers in it are undefined. Running out is a bug: the model says how much it needs.
  Tensor take(int rows, int cols) {
    const int stride = padded(cols);
    const std::size_t bytes = static_cast<std::size_t>(rows) * static_cast<std::size_t>(stride) * sizeof(float);
    check(used_ + bytes <= buffer_.bytes(), "a step's scratch memory suffices");
    const Tensor tensor{&buffer_, used_, rows, cols, stride};
    used_ += bytes;
    return tensor;
  }
  std::size_t mark() const { return used_; }
  void release(std::size_t mark) { used_ = mark; }

  // Floats of one row of a tensor of that width.
  static constexpr int padded(int cols) { return (cols + 15) / 16 * 16; }

 private:
  Buffer& buffer_;
  std::size_t used_ = 0;
};

struct Step {
  Backend& backend;
  Workspace& scratch;
  const Batch& batch;
  std::span<const Tensor> rope;  // For each rotary embedding of the model, its row of cosines and sines for each token.

  int tokens() const { return static_cast<int>(batch.tokens.size()); }
};

// The products of several matrices with one input, side by side in `out`.
inline void project(Step& step, Tensor x, std::span<const Projection> projections, Tensor out) {
  constexpr std::size_t kMost = 4;
  check(projections.size() <= kMost, "an input has few projections");
  Projection placed[kMost];
  int begin = 0;
  for (std::size_t i = 0; i < projections.size(); ++i) {
    const int width = projections[i].weight->rows;
    placed[i] = projections[i];
    placed[i].out = out.slice_cols(begin, width);
    begin += width;
  }
  step.backend.linear(x, {placed, projections.size()});
}
inline void project(Step& step, Tensor x, const Projection& projection, Tensor out) {
  project(step, x, std::span(&projection, 1), out);
}

}  // namespace plait
