// Qwen3-Next and Qwen3.5: layers of gated delta rule, every fourth of gated attention (gguf-architectures.md 5).
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ffn/glu.h"
#include "mixers/gated_delta.h"
#include "models/dense.h"
#include "models/expert_keys.h"
#include "models/registry.h"

namespace plait {
namespace {

constexpr int kMaxHead = 512, kMaxRatio = 8;

GatedDeltaSpec gated_delta_keys(Builder& b, int dim, bool tiled) {
  GatedDeltaSpec spec;
  spec.dim = dim;
  spec.key_dim = spec.value_dim = b.positive("ssm.state_size");
  spec.key_heads = b.positive("ssm.group_count");
  spec.value_heads = b.positive("ssm.time_step_rank");
  spec.taps = b.positive("ssm.conv_kernel");
  spec.tiled = tiled;
  spec.norm_eps = static_cast<float>(b.number("attention.layer_norm_rms_epsilon"));
  const int inner = b.positive("ssm.inner_size");
  b.require(spec.key_dim % 16 == 0 && spec.key_dim <= kMaxHead,
            fmt::format("ssm.state_size is {}, wanted a multiple of 16 up to {}", spec.key_dim, kMaxHead));
  b.require(spec.taps >= 2 && spec.taps <= kChunkTokens,
            fmt::format("ssm.conv_kernel is {}, wanted 2 to {}", spec.taps, kChunkTokens));
  b.require(spec.value_heads % spec.key_heads == 0 && spec.value_heads <= spec.key_heads * kMaxRatio,
            fmt::format("ssm.time_step_rank is {}, wanted 1 to {} times ssm.group_count {}", spec.value_heads,
                        kMaxRatio, spec.key_heads));
  b.require(static_cast<std::int64_t>(spec.value_heads) * spec.value_dim == inner && inner <= 1 << 20,
            fmt::format("ssm.inner_size is {}, wanted ssm.time_step_rank {} times ssm.state_size {}", inner,
                        spec.value_heads, spec.value_dim));
  return spec;
}

// Which layers are recurrent: a list, layers without keys and values, or all but every n-th.
std::vector<bool> recurrent_layers(Builder& b, int layers) {
  std::vector<bool> out;
  if (b.has_key("attention.recurrent_layers")) {
    for (const int flag : b.integers("attention.recurrent_layers", layers)) out.push_back(flag != 0);
    return out;
  }
  const std::vector<int> kv_heads = b.integers("attention.head_count_kv", layers);
  const bool listed = std::find(kv_heads.begin(), kv_heads.end(), 0) != kv_heads.end();
  const int every = b.positive("full_attention_interval", 4);
  for (int i = 0; i < layers; ++i)
    out.push_back(listed ? kv_heads[static_cast<std::size_t>(i)] == 0 : (i + 1) % every != 0);
  return out;
}

// Of every layer: a mixture whose shared expert has a gate, or a plain one.
MakeFfn feed_forward(Builder& b, int dim, bool experts) {
  if (experts) {
    const MoeSpec spec =
        expert_keys(b, {.shared_hidden = b.positive("expert_feed_forward_length", 1), .shared_gate = true}, dim);
    return [spec](Scope scope) { return moe(spec, scope); };
  }
  const GluSpec spec{.dim = dim, .hidden = b.positive("feed_forward_length")};
  return [spec](Scope scope) { return glu(spec, scope); };
}

struct Traits {
  bool tiled = false;  // Order of the value heads.
  bool experts = false;
};

Result<Model> hybrid(Builder& b, const Traits& traits) {
  const int dim = b.positive("embedding_length");
  const int layers = layer_count(b);
  const std::vector<int> kv_heads = b.integers("attention.head_count_kv", layers);
  const AttentionSpec full = attention_keys(
      b, {.gated = true, .norm_heads = true, .kv_heads = *std::max_element(kv_heads.begin(), kv_heads.end())}, dim);
  const GatedDeltaSpec linear = gated_delta_keys(b, dim, traits.tiled);
  const std::vector<bool> recurrent = recurrent_layers(b, layers);
  const MakeFfn make_ffn = feed_forward(b, dim, traits.experts);
  const int vocabulary = b.vocabulary();

  b.embed(b.model().matrix("token_embd", vocabulary, dim));
  for (int i = 0; i < layers && b.good(); ++i) {
    Scope s = b.layer(i);
    b.add({.norm = b.norm(s, "attn_norm", dim),
           .mixer = recurrent[static_cast<std::size_t>(i)] ? gated_delta(linear, s) : attention(full, s),
           .ffn_norm = b.norm(s, "post_attention_norm", dim),
           .ffn = make_ffn(s)});
  }
  b.head(b.norm(b.model(), "output_norm", dim), b.model().matrix("output", vocabulary, dim, Presence::kOptional));
  return b.finish();
}

}  // namespace

Result<Model> qwen3next(Builder& b) { return hybrid(b, {.experts = true}); }
Result<Model> qwen35(Builder& b) { return hybrid(b, {.tiled = true}); }
Result<Model> qwen35moe(Builder& b) { return hybrid(b, {.tiled = true, .experts = true}); }

namespace {

constexpr const char* kTinyExperts =
    R"({"vocab_size": 384, "context_length": 1024, "embedding_length": 64, "block_count": 4,
        "feed_forward_length": 96, "attention.head_count": 4, "attention.head_count_kv": 2,
        "attention.key_length": 32, "attention.value_length": 32, "rope.dimension_count": 16,
        "rope.dimension_sections": [3, 3, 2, 0], "rope.freq_base": 10000000.0,
        "attention.layer_norm_rms_epsilon": 1e-6, "ssm.conv_kernel": 4, "ssm.state_size": 32, "ssm.group_count": 2,
        "ssm.time_step_rank": 4, "ssm.inner_size": 128, "full_attention_interval": 4, "expert_count": 4,
        "expert_used_count": 2, "expert_feed_forward_length": 32, "expert_shared_feed_forward_length": 32,
        "tied": true})";

}  // namespace

std::span<const Shape> qwen3next_shapes() {
  static constexpr std::array<Shape, 1> kShapes{{{"tiny", kTinyExperts}}};
  return kShapes;
}

std::span<const Shape> qwen35moe_shapes() {
  static constexpr std::array<Shape, 2> kShapes{{
      {"tiny", kTinyExperts},
      {"qwen3.5-moe-4b", R"({"vocab_size": 32000, "context_length": 262144, "embedding_length": 2048, "block_count": 10,
         "feed_forward_length": 4096, "attention.head_count": 16, "attention.head_count_kv": 2,
         "attention.key_length": 256, "attention.value_length": 256, "rope.dimension_count": 64,
         "rope.dimension_sections": [11, 11, 10, 0], "rope.freq_base": 10000000.0,
         "attention.layer_norm_rms_epsilon": 1e-6, "ssm.conv_kernel": 4, "ssm.state_size": 128, "ssm.group_count": 16,
         "ssm.time_step_rank": 32, "ssm.inner_size": 4096, "full_attention_interval": 4, "expert_count": 128,
         "expert_used_count": 8, "expert_feed_forward_length": 512, "expert_shared_feed_forward_length": 512,
         "tied": false})"},
  }};
  return kShapes;
}

std::span<const Shape> qwen35_shapes() {
  static constexpr std::array<Shape, 2> kShapes{{
      {"tiny", R"({"vocab_size": 384, "context_length": 1024, "embedding_length": 64, "block_count": 4,
         "feed_forward_length": 96, "attention.head_count": 4, "attention.head_count_kv": 2,
         "attention.key_length": 32, "attention.value_length": 32, "rope.dimension_count": 16,
         "rope.dimension_sections": [3, 3, 2, 0], "rope.freq_base": 10000000.0,
         "attention.layer_norm_rms_epsilon": 1e-6, "ssm.conv_kernel": 4, "ssm.state_size": 32, "ssm.group_count": 2,
         "ssm.time_step_rank": 4, "ssm.inner_size": 128, "full_attention_interval": 4, "tied": true})"},
      {"qwen3.5-0.8b", R"({"vocab_size": 32000, "context_length": 262144, "embedding_length": 1024, "block_count": 24,
         "feed_forward_length": 3584, "attention.head_count": 8, "attention.head_count_kv": 2,
         "attention.key_length": 256, "attention.value_length": 256, "rope.dimension_count": 64,
         "rope.dimension_sections": [11, 11, 10, 0], "rope.freq_base": 10000000.0,
         "attention.layer_norm_rms_epsilon": 1e-6, "ssm.conv_kernel": 4, "ssm.state_size": 128, "ssm.group_count": 16,
         "ssm.time_step_rank": 16, "ssm.inner_size": 2048, "full_attention_interval": 4, "tied": false})"},
  }};
  return kShapes;
}

}  // namespace plait
