// Gated short convolution, the recurrent layer of LFM2 (gguf-architectures.md 6.1): out(C * conv(B * x)).
#pragma once

#include <memory>

#include "backend/scope.h"
#include "mixers/mixer.h"

namespace plait {

struct ShortConvSpec {
  int dim = 0;
  int taps = 0;
};

// Weights: shortconv.in_proj (rows of B, C, x), shortconv.conv, shortconv.out_proj.
std::unique_ptr<Mixer> short_conv(const ShortConvSpec& spec, Scope scope);

}  // namespace plait
