// Qwen3 with experts: the attention of Qwen3, and a mixture of experts in every layer (gguf-architectures.md 4.3).
#include <array>

#include "models/dense.h"
#include "models/expert_keys.h"
#include "models/registry.h"

namespace plait {

Result<Model> qwen3moe(Builder& b) {
  const int dim = b.positive("embedding_length");
  const MoeSpec ffn = expert_keys(b, {.gating = Gating::kSoftmax, .normalise = true}, dim);
  if (!b.good()) return b.finish();
  return transformer(b, {.norm_heads = true}, dim, [&ffn](Scope scope) { return moe(ffn, scope); });
}

std::span<const Shape> qwen3moe_shapes() {
  static constexpr std::array<Shape, 2> kShapes{{
      {"tiny", R"({"vocab_size": 384, "context_length": 1024, "embedding_length": 64, "block_count": 2,
         "attention.head_count": 4, "attention.head_count_kv": 2, "attention.key_length": 32,
         "attention.value_length": 32, "feed_forward_length": 128,
         "expert_count": 8, "expert_used_count": 2, "expert_feed_forward_length": 32,
         "attention.layer_norm_rms_epsilon": 1e-6, "rope.freq_base": 1000000.0, "tied": true})"},
      {"qwen3-30b-a3b", R"({"vocab_size": 32000, "context_length": 40960, "embedding_length": 2048,
         "block_count": 48, "attention.head_count": 32, "attention.head_count_kv": 4, "attention.key_length": 128,
         "attention.value_length": 128, "feed_forward_length": 6144,
         "expert_count": 128, "expert_used_count": 8, "expert_feed_forward_length": 768,
         "attention.layer_norm_rms_epsilon": 1e-6, "rope.freq_base": 1000000.0, "tied": false})"},
  }};
  return kShapes;
}

}  // namespace plait
