// Model: weights and the layers over them; ModelSpec: the plain data about it that the engine needs.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/step.h"
#include "mixers/rope.h"
#include "models/block.h"

namespace plait {

struct LayerInfo {
  std::string mixer;  // "attention, 9 / 3 heads of 64"
  std::string ffn;
  StateSpec state;
};

struct ModelSpec {
  std::string architecture;
  std::string name;
  int vocabulary = 0;
  int dim = 0;
  int trained_context = 0;
  std::vector<LayerInfo> layers;
  std::int64_t parameters = 0;
  std::size_t weight_bytes = 0;  // As the backend holds them.
  // Of the file, read for one token: all matrices but the embedding table (a tied one counts).
  std::size_t step_weight_bytes = 0;

  std::vector<StateSpec> states() const;  // One a layer.
};

class Model {
 public:
  const ModelSpec& spec() const { return spec_; }

  // Bytes of workspace for steps of at most `tokens` tokens and `outputs` rows of logits at once.
  std::size_t scratch_bytes(int tokens, int outputs) const;
  // Takes what the backend itself needs for such steps; first, how many bytes that is.
  std::size_t reserve_bytes(const Backend& backend, int tokens) const;
  Result<void> reserve(Backend& backend, int tokens) const;

  // How often each expert was chosen so far, one list a layer; empty for a layer without experts. From any thread.
  std::vector<std::vector<std::uint64_t>> expert_counts() const;

  // One pass over the batch: writes its rows to the states and returns the normed hidden rows of batch.outputs,
  // [outputs, dim]. `observe`, if set, sees the residual stream before layer 0 and after each layer.
  // One state a layer. Valid until the workspace is released.
  using Observer = std::function<void(int layer, Tensor x)>;
  Tensor forward(Backend& backend, Workspace& scratch, const Batch& batch, std::span<const LayerState> states,
                 const Observer& observe = {}) const;
  // Logits of some of those rows, [rows, vocabulary].
  Tensor logits(Backend& backend, Workspace& scratch, Tensor hidden) const;

 private:
  friend class Builder;
  ModelSpec spec_;
  std::deque<Weight> weights_;  // Layers point into it.
  std::unique_ptr<Buffer> memory_;
  std::vector<Rope> ropes_;
  std::vector<std::unique_ptr<Block>> blocks_;
  const Weight* embedding_ = nullptr;
  NormWeight output_norm_;
  const Weight* head_ = nullptr;
  int widest_input_ = 0;
};

}  // namespace plait
