// What the dense transformers share: the usual keys, read once, and the layers they lead to.
#pragma once

#include "models/builder.h"

namespace plait {

// How one architecture differs from the common dense transformer.
struct DenseTraits {
  RopePairs pairs = RopePairs::kHalves;
  bool norm_heads = false;  // attn_q_norm and attn_k_norm.
  Presence qkv_bias = Presence::kOptional;
  bool rope_divisors = false;  // The file may hold rope_freqs.
};

// Embedding, layers of attention and gated feed-forward, head (gguf-architectures.md 3.0).
Result<Model> dense_transformer(Builder& b, const DenseTraits& traits);

}  // namespace plait
