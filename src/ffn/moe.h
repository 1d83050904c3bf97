// Mixture of experts: a router chooses a few of many gated feed-forwards for each token; perhaps one more is shared.
#pragma once

#include <memory>

#include "backend/scope.h"
#include "ffn/ffn.h"

namespace plait {

// How the weights of the chosen experts come about is in gguf-architectures.md 3.2 and linear-kernels.md 7.4.
struct MoeSpec {
  int dim = 0;
  int hidden = 0;            // Of each expert; at least 2.
  int shared_hidden = 0;     // Of the shared expert. Zero: there is none.
  bool shared_gate = false;  // Its output times sigmoid(ffn_gate_inp_shexp x).
  Activation activation = Activation::kSilu;
  // The router. A token takes `used` of `experts`, from its best `groups_used` of `groups` groups of equal size:
  // used <= groups_used * (experts / groups).
  int experts = 0, used = 0;
  int groups = 1, groups_used = 1;
  Gating gating = Gating::kSoftmax;
  bool selection_bias = false;  // exp_probs_b.bias, which counts in the choice and not in the weights.
  bool normalise = true;        // Weights are divided by their sum plus `guard`; a sum of zero makes them zero.
  float guard = 0;
  float scale = 1;  // Of the weights, in the end.
};

// Weights: ffn_gate_inp; ffn_gate_exps and ffn_up_exps, or ffn_gate_up_exps with the rows of gate first; ffn_down_exps;
// exp_probs_b.bias; ffn_gate_shexp, ffn_up_shexp, ffn_down_shexp, ffn_gate_inp_shexp.
std::unique_ptr<Ffn> moe(const MoeSpec& spec, Scope scope);

}  // namespace plait
