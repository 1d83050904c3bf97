// route(): which experts a token takes, and with what weights (linear-kernels.md 7.4, routing).
#pragma once

#include "backend/ops.h"
#include "kernels/float_kernels.h"

namespace plait {

// `logits` [experts] become probabilities. `chosen` and `weights` [used]: the experts, best first. Logits that are not
// finite make weights that are none, never an expert that does not exist or comes twice.
void route(const Routing& routing, const FloatKernels& kernels, float* logits, int* chosen, float* weights);

}  // namespace plait
