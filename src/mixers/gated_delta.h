// Gated delta rule (Yang et al. 2024, "Gated Delta Networks"), as in Qwen3-Next and Qwen3.5: a causal convolution, then
// a recurrence with one decay a head, a gated norm, and a projection (gguf-architectures.md 5).
#pragma once

#include <memory>

#include "backend/scope.h"
#include "mixers/mixer.h"

namespace plait {

struct GatedDeltaSpec {
  int dim = 0;
  int key_heads = 0;
  int value_heads = 0;  // A multiple of key_heads.
  int key_dim = 0;      // Of one head; a multiple of 16.
  int value_dim = 0;    // The same.
  int taps = 0;         // Of the convolution.
  bool tiled = false;   // Value head j reads key head j % key_heads; otherwise j / (value_heads / key_heads).
  float norm_eps = 0;
};

// Weights: attn_qkv and attn_gate (or ssm_in, grouped by key head); ssm_beta and ssm_alpha (or ssm_ba, the same);
// ssm_conv1d, ssm_a, ssm_dt.bias, ssm_norm, ssm_out.
std::unique_ptr<Mixer> gated_delta(const GatedDeltaSpec& spec, Scope scope);

}  // namespace plait
