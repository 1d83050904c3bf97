// The keys that describe attention (gguf-architectures.md 2).
#pragma once

#include "mixers/attention.h"
#include "models/builder.h"

namespace plait {

// How an architecture's attention differs from the common kind.
struct AttentionTraits {
  RopePairs pairs = RopePairs::kHalves;
  bool gated = false;       // attn_q also makes an output gate.
  bool norm_heads = false;  // attn_q_norm and attn_k_norm.
  Presence qkv_bias = Presence::kOptional;
  bool rope_divisors = false;  // The file may hold rope_freqs.
  int kv_heads = 0;            // Zero: as {a}.attention.head_count_kv says for all layers.
};

// Reads {a}.attention.* and {a}.rope.*, and adds the rotary embedding to the model.
AttentionSpec attention_keys(Builder& b, const AttentionTraits& traits, int dim);

}  // namespace plait
