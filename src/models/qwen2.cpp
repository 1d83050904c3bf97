// Qwen2 and Qwen2.5: biases on q, k and v (gguf-architectures.md 4.1, with rotary pairs by halves).
#include <array>

#include "models/dense.h"
#include "models/registry.h"

namespace plait {

Result<Model> qwen2(Builder& b) { return dense_transformer(b, {.qkv_bias = Presence::kRequired}); }

std::span<const Shape> qwen2_shapes() {
  static constexpr std::array<Shape, 1> kShapes{{
      {"tiny", R"({"vocab_size": 384, "context_length": 1024, "embedding_length": 64, "block_count": 2,
         "attention.head_count": 4, "attention.head_count_kv": 2, "feed_forward_length": 128,
         "attention.layer_norm_rms_epsilon": 1e-6, "rope.freq_base": 1000000.0, "tied": true})"},
  }};
  return kShapes;
}

}  // namespace plait
