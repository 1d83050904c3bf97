// Gated feed-forward: down(act(gate x) * up x).
#pragma once

#include <memory>

#include "backend/scope.h"
#include "ffn/ffn.h"

namespace plait {

struct GluSpec {
  int dim = 0;
  int hidden = 0;
  Activation activation = Activation::kSilu;
};

// Weights: ffn_gate, ffn_up, ffn_down; biases where they are there.
std::unique_ptr<Ffn> glu(const GluSpec& spec, Scope scope);

}  // namespace plait
