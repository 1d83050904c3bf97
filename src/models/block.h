// Block: one layer, which updates the residual stream; ResidualBlock: the common kind.
#pragma once

#include <memory>
#include <string>

#include "ffn/ffn.h"
#include "mixers/mixer.h"

namespace plait {

class Block {
 public:
  virtual ~Block() = default;
  virtual std::string mixer() const = 0;  // For listings.
  virtual std::string ffn() const = 0;
  virtual StateSpec state() const = 0;
  virtual int scratch_floats() const = 0;                  // Of workspace for each token of a step.
  virtual std::optional<ExpertShape> experts() const = 0;  // As in Ffn.
  virtual std::span<const std::atomic<std::uint64_t>> expert_counts() const = 0;  // As in Ffn.
  virtual void forward(Step& step, Tensor x, const LayerState& state) const = 0;  // x: [tokens, dim], in place.
};

struct NormWeight {
  const Weight* weight = nullptr;
  float eps = 0;
};

struct ResidualParts {
  NormWeight norm;
  std::unique_ptr<Mixer> mixer;
  NormWeight ffn_norm;
  std::unique_ptr<Ffn> ffn;
};

// x = x + mixer(norm(x)); x = x + ffn(norm(x)).
std::unique_ptr<Block> residual_block(ResidualParts parts);

}  // namespace plait
