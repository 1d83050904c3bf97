// ResidualBlock: norm, mixer, add, norm, feed-forward, add.
#include "models/block.h"

#include <algorithm>

namespace plait {
namespace {

class ResidualBlock final : public Block {
 public:
  explicit ResidualBlock(ResidualParts parts) : parts_(std::move(parts)) {}

  std::string mixer() const override { return parts_.mixer->describe(); }
  std::string ffn() const override { return parts_.ffn->describe(); }
  StateSpec state() const override { return parts_.mixer->state(); }

  // Beside what mixer or feed-forward take: the normed input and the output, each as wide as x (counted by the model).
  int scratch_floats() const override { return std::max(parts_.mixer->scratch_floats(), parts_.ffn->scratch_floats()); }

  std::optional<ExpertShape> experts() const override { return parts_.ffn->experts(); }
  std::span<const std::atomic<std::uint64_t>> expert_counts() const override { return parts_.ffn->expert_counts(); }

  void forward(Step& step, Tensor x, const LayerState& state) const override {
    const std::size_t mark = step.scratch.mark();
    const Tensor normed = step.scratch.take(x.rows, x.cols);
    const Tensor out = step.scratch.take(x.rows, x.cols);
    const std::size_t inner = step.scratch.mark();
    norm(step, x, parts_.norm, normed);
    parts_.mixer->forward(step, normed, out, state);
    step.backend.add(x, out);
    step.scratch.release(inner);
    norm(step, x, parts_.ffn_norm, normed);
    parts_.ffn->forward(step, normed, out);
    step.backend.add(x, out);
    step.scratch.release(mark);
  }

 private:
  static void norm(Step& step, Tensor x, const NormWeight& norm, Tensor out) {
    step.backend.norm({.x = x, .weight = norm.weight, .eps = norm.eps, .width = x.cols, .out = out});
  }

  ResidualParts parts_;
};

}  // namespace

std::unique_ptr<Block> residual_block(ResidualParts parts) { return std::make_unique<ResidualBlock>(std::move(parts)); }

}  // namespace plait
