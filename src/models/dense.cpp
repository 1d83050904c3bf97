// The common dense transformer.
#include "models/dense.h"

#include <fmt/format.h>

#include <algorithm>

#include "ffn/glu.h"

namespace plait {

int layer_count(Builder& b) {
  const int blocks = b.positive("block_count"), predicting = b.integer("nextn_predict_layers", 0);
  b.require(blocks <= kMaxLayers, fmt::format("block_count is {}, wanted 1 to {}", blocks, kMaxLayers));
  b.require(predicting < blocks,
            fmt::format("nextn_predict_layers is {}, wanted fewer than the {} blocks", predicting, blocks));
  const int layers = std::clamp(blocks - predicting, 1, kMaxLayers);
  b.trunk(layers);
  return layers;
}

Result<Model> dense_transformer(Builder& b, const AttentionTraits& traits) {
  const int dim = b.positive("embedding_length");
  const int layers = layer_count(b);
  b.require(b.integer("expert_count", 0) == 0, "the layers have experts, which this architecture has not in plait");
  const AttentionSpec mixer = attention_keys(b, traits, dim);
  const GluSpec ffn{.dim = dim, .hidden = b.positive("feed_forward_length")};
  const int vocabulary = b.vocabulary();

  b.embed(b.model().matrix("token_embd", vocabulary, dim));
  for (int i = 0; i < layers; ++i) {
    Scope s = b.layer(i);
    b.add({.norm = b.norm(s, "attn_norm", dim),
           .mixer = attention(mixer, s),
           .ffn_norm = b.norm(s, "ffn_norm", dim),
           .ffn = glu(ffn, s)});
  }
  b.head(b.norm(b.model(), "output_norm", dim), b.model().matrix("output", vocabulary, dim, Presence::kOptional));
  return b.finish();
}

}  // namespace plait
