// Gated feed-forward: down(act(gate x) * up x).
#pragma once

#include <memory>
#include <string_view>

#include "backend/scope.h"
#include "ffn/ffn.h"

namespace plait {

std::string_view name_of(Activation activation);  // "silu"

struct GluSpec {
  int dim = 0;
  int hidden = 0;
  Activation activation = Activation::kSilu;
  std::string_view suffix = "";  // Of the names.
};

// Weights: ffn_gate, ffn_up, ffn_down, each with the suffix; biases where they are there.
std::unique_ptr<Ffn> glu(const GluSpec& spec, Scope scope);

}  // namespace plait
