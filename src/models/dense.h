// What the dense transformers share: the usual keys, read once, and the layers they lead to.
#pragma once

#include "models/attention_keys.h"
#include "models/builder.h"

namespace plait {

// Blocks of the trunk: {a}.block_count without those of multi-token prediction, which are recognised and not used.
int layer_count(Builder& b);

// Embedding, layers of attention and gated feed-forward, head (gguf-architectures.md 3.0).
Result<Model> dense_transformer(Builder& b, const AttentionTraits& traits);

}  // namespace plait
