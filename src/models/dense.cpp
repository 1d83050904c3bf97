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

Result<Model> transformer(Builder& b, const AttentionTraits& traits, int dim, const MakeFfn& make_ffn) {
  const int layers = layer_count(b);
  const AttentionSpec mixer = attention_keys(b, traits, dim);
  const int vocabulary = b.vocabulary();

  b.embed(b.model().matrix("token_embd", vocabulary, dim));
  for (int i = 0; i < layers && b.good(); ++i) {
    Scope s = b.layer(i);
    b.add({.norm = b.norm(s, "attn_norm", dim),
           .mixer = attention(mixer, s),
           .ffn_norm = b.norm(s, "ffn_norm", dim),
           .ffn = make_ffn(s)});
  }
  b.head(b.norm(b.model(), "output_norm", dim), b.model().matrix("output", vocabulary, dim, Presence::kOptional));
  return b.finish();
}

Result<Model> dense_transformer(Builder& b, const AttentionTraits& traits) {
  b.require(b.integer("expert_count", 0) == 0, "the layers have experts, which this architecture has not in plait");
  const GluSpec ffn{.dim = b.positive("embedding_length"), .hidden = b.positive("feed_forward_length")};
  return transformer(b, traits, ffn.dim, [&ffn](Scope scope) { return glu(ffn, scope); });
}

}  // namespace plait
