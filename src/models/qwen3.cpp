// Qwen3, dense: an RMS norm on each head of q and k, heads of their own size (gguf-architectures.md 4.2).
#include <array>

#include "models/dense.h"
#include "models/registry.h"

namespace plait {

Result<Model> qwen3(Builder& b) { return dense_transformer(b, {.norm_heads = true}); }

std::span<const Shape> qwen3_shapes() {
  static constexpr std::array<Shape, 3> kShapes{{
      {"tiny", R"({"vocab_size": 384, "context_length": 1024, "embedding_length": 64, "block_count": 2,
         "attention.head_count": 4, "attention.head_count_kv": 2, "attention.key_length": 32,
         "attention.value_length": 32,
         "feed_forward_length": 128, "attention.layer_norm_rms_epsilon": 1e-6, "rope.freq_base": 1000000.0,
         "tied": true})"},
      {"qwen3-0.6b", R"({"vocab_size": 32000, "context_length": 40960, "embedding_length": 1024, "block_count": 28,
         "attention.head_count": 16, "attention.head_count_kv": 8, "attention.key_length": 128,
         "attention.value_length": 128,
         "feed_forward_length": 3072, "attention.layer_norm_rms_epsilon": 1e-6, "rope.freq_base": 1000000.0,
         "tied": false})"},
      {"qwen3-1.7b", R"({"vocab_size": 32000, "context_length": 40960, "embedding_length": 2048, "block_count": 28,
         "attention.head_count": 16, "attention.head_count_kv": 8, "attention.key_length": 128,
         "attention.value_length": 128,
         "feed_forward_length": 6144, "attention.layer_norm_rms_epsilon": 1e-6, "rope.freq_base": 1000000.0,
         "tied": false})"},
  }};
  return kShapes;
}

}  // namespace plait
