// What the dense transformers share: the usual keys, read once, and the layers they lead to.
#pragma once

#include <functional>
#include <memory>

#include "models/attention_keys.h"
#include "models/builder.h"

namespace plait {

// Blocks of the trunk: {a}.block_count without those of multi-token prediction, which are recognised and not used.
int layer_count(Builder& b);

// Embedding, layers of attention and some feed-forward, head (gguf-architectures.md 3.0).
using MakeFfn = std::function<std::unique_ptr<Ffn>(Scope scope)>;
Result<Model> transformer(Builder& b, const AttentionTraits& traits, int dim, const MakeFfn& make_ffn);

// The same with gated feed-forwards.
Result<Model> dense_transformer(Builder& b, const AttentionTraits& traits);

}  // namespace plait
