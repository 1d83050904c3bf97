// Model: one pass over a batch.
#include "models/model.h"

#include <algorithm>

namespace plait {

std::vector<StateSpec> ModelSpec::states() const {
  std::vector<StateSpec> states;
  for (const LayerInfo& layer : layers) states.push_back(layer.state);
  return states;
}

std::size_t Model::scratch_bytes(int tokens, int outputs) const {
  const std::size_t dim = static_cast<std::size_t>(Workspace::padded(spec_.dim));
  std::size_t layer = 0, rope = 0;
  for (const auto& block : blocks_) layer = std::max(layer, static_cast<std::size_t>(block->scratch_floats()));
  for (const Rope& row : ropes_) rope += static_cast<std::size_t>(Workspace::padded(row.rotated()));
  // The hidden rows that are returned; the residual stream; a layer's input and output; what the layer takes itself.
  const std::size_t token_floats = dim + dim + 2 * dim + layer + rope;
  const std::size_t output_floats = static_cast<std::size_t>(Workspace::padded(spec_.vocabulary));
  return sizeof(float) *
         (static_cast<std::size_t>(tokens) * token_floats + static_cast<std::size_t>(outputs) * output_floats);
}

std::size_t Model::reserve_bytes(const Backend& backend, int tokens) const {
  std::size_t experts = 0;
  for (const auto& block : blocks_) {
    if (const auto shape = block->experts())
      experts = std::max(experts, backend.reserve_experts_bytes(tokens, shape->routing, shape->hidden));
  }
  return backend.reserve_bytes(tokens, widest_input_) + experts;
}

Result<void> Model::reserve(Backend& backend, int tokens) const {
  Result<void> reserved = backend.reserve(tokens, widest_input_);
  for (std::size_t i = 0; i < blocks_.size() && reserved; ++i) {
    if (const auto shape = blocks_[i]->experts())
      reserved = backend.reserve_experts(tokens, shape->routing, shape->hidden);
  }
  return reserved;
}

std::vector<std::vector<std::uint64_t>> Model::expert_counts() const {
  std::vector<std::vector<std::uint64_t>> counts;
  for (const auto& block : blocks_) {
    std::vector<std::uint64_t>& layer = counts.emplace_back();
    for (const std::atomic<std::uint64_t>& count : block->expert_counts())
      layer.push_back(count.load(std::memory_order_relaxed));
  }
  return counts;
}

Tensor Model::forward(Backend& backend, Workspace& scratch, const Batch& batch, std::span<const LayerState> states,
                      const Observer& observe) const {
  const int tokens = static_cast<int>(batch.tokens.size());
  const Tensor hidden = scratch.take(static_cast<int>(batch.outputs.size()), spec_.dim);
  const std::size_t mark = scratch.mark();
  const Tensor x = scratch.take(tokens, spec_.dim);
  std::vector<Tensor> rope;
  std::vector<float> row;
  for (const Rope& angles : ropes_) {
    const Tensor table = rope.emplace_back(scratch.take(tokens, angles.rotated()));
    row.resize(static_cast<std::size_t>(angles.rotated()));
    for (int t = 0; t < tokens; ++t) {
      angles.row(batch.positions[static_cast<std::size_t>(t)], row);
      backend.write(row, table.slice_rows(t, 1));
    }
  }
  Step step{backend, scratch, batch, rope};
  backend.embed(batch.tokens, *embedding_, 1.0f, x);
  if (observe) observe(0, x);
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    blocks_[i]->forward(step, x, states[i]);
    if (observe) observe(static_cast<int>(i) + 1, x);
  }
  backend.gather_rows(x, batch.outputs, hidden);
  backend.norm(
      {.x = hidden, .weight = output_norm_.weight, .eps = output_norm_.eps, .width = spec_.dim, .out = hidden});
  scratch.release(mark);
  return hidden;
}

Tensor Model::logits(Backend& backend, Workspace& scratch, Tensor hidden) const {
  Projection head{.weight = head_, .out = scratch.take(hidden.rows, spec_.vocabulary)};
  backend.linear(hidden, {&head, 1});
  return head.out;
}

}  // namespace plait
