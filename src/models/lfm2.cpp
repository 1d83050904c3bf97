// LFM2: short convolutions, and attention in layers that have keys and values (gguf-architectures.md 6.1).
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ffn/glu.h"
#include "mixers/short_conv.h"
#include "models/dense.h"
#include "models/expert_keys.h"
#include "models/registry.h"

namespace plait {
namespace {

AttentionSpec attention_of(Builder& b, const std::vector<int>& kv_heads, int dim) {
  const int most = *std::max_element(kv_heads.begin(), kv_heads.end());
  for (const int heads : kv_heads)
    b.require(heads == 0 || heads == most,
              fmt::format("attention.head_count_kv has {} and {}, wanted one number beside 0", heads, most));
  return attention_keys(b, {.norm_heads = true, .kv_heads = std::max(most, 1)}, dim);
}

// With experts, the layers after the first `leading_dense_block_count` are mixtures.
Result<Model> convolutions(Builder& b, bool experts) {
  const int dim = b.positive("embedding_length");
  const int layers = layer_count(b);
  const std::vector<int> kv_heads = b.integers("attention.head_count_kv", layers);
  const AttentionSpec full = attention_of(b, kv_heads, dim);
  const ShortConvSpec local{.dim = dim, .taps = b.positive("shortconv.l_cache")};
  b.require(local.taps >= 2 && local.taps <= kChunkTokens,
            fmt::format("shortconv.l_cache is {}, wanted 2 to {}", local.taps, kChunkTokens));
  const GluSpec ffn{.dim = dim, .hidden = b.positive("feed_forward_length")};
  MoeSpec mixture;
  if (experts) mixture = expert_keys(b, {.gating = Gating::kSigmoid, .selection_bias = true, .guard = 1e-6f}, dim);
  const int dense = experts ? b.integer("leading_dense_block_count", 0) : layers;
  const int vocabulary = b.vocabulary();

  b.embed(b.model().matrix("token_embd", vocabulary, dim));
  for (int i = 0; i < layers && b.good(); ++i) {
    Scope s = b.layer(i);
    b.add({.norm = b.norm(s, "attn_norm", dim),
           .mixer = kv_heads[static_cast<std::size_t>(i)] == 0 ? short_conv(local, s) : attention(full, s),
           .ffn_norm = b.norm(s, "ffn_norm", dim),
           .ffn = i < dense ? glu(ffn, s) : moe(mixture, s)});
  }
  // The name says embedding, the tensor is the norm before the head.
  b.head(b.norm(b.model(), "token_embd_norm", dim), b.model().matrix("output", vocabulary, dim, Presence::kOptional));
  return b.finish();
}

}  // namespace

Result<Model> lfm2(Builder& b) { return convolutions(b, false); }
Result<Model> lfm2moe(Builder& b) { return convolutions(b, true); }

std::span<const Shape> lfm2moe_shapes() {
  static constexpr std::array<Shape, 1> kShapes{{
      {"tiny", R"({"vocab_size": 384, "context_length": 1024, "embedding_length": 64, "block_count": 4,
         "feed_forward_length": 96, "attention.head_count": 4, "attention.head_count_kv": [0, 0, 2, 0],
         "rope.freq_base": 1000000.0, "attention.layer_norm_rms_epsilon": 1e-5, "shortconv.l_cache": 3,
         "leading_dense_block_count": 1, "expert_count": 8, "expert_used_count": 2,
         "expert_feed_forward_length": 32, "expert_gating_func": 2, "tied": true})"},
  }};
  return kShapes;
}

std::span<const Shape> lfm2_shapes() {
  static constexpr std::array<Shape, 2> kShapes{{
      {"tiny", R"({"vocab_size": 384, "context_length": 1024, "embedding_length": 64, "block_count": 4,
         "feed_forward_length": 96, "attention.head_count": 4, "attention.head_count_kv": [0, 0, 2, 0],
         "rope.freq_base": 1000000.0, "attention.layer_norm_rms_epsilon": 1e-5, "shortconv.l_cache": 3,
         "tied": true})"},
      {"lfm2-350m", R"({"vocab_size": 32000, "context_length": 128000, "embedding_length": 1024, "block_count": 16,
         "feed_forward_length": 4608, "attention.head_count": 16,
         "attention.head_count_kv": [0, 0, 8, 0, 0, 8, 0, 0, 8, 0, 8, 0, 8, 0, 8, 0],
         "rope.freq_base": 1000000.0, "attention.layer_norm_rms_epsilon": 1e-5, "shortconv.l_cache": 3,
         "tied": false})"},
  }};
  return kShapes;
}

}  // namespace plait
