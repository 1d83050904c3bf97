// Llama and those like it: Llama 2 and 3, Mistral, SmolLM2 (gguf-architectures.md 4.1).
#include <array>

#include "models/dense.h"
#include "models/registry.h"

namespace plait {

// The converter permutes the rows of q and k, so that rotary pairs are neighbours.
Result<Model> llama(Builder& b) {
  const bool long_factors = b.model().has("rope_factors_long") || b.model().has("rope_factors_short");
  b.require(!long_factors,
            "the file has rope_factors_long or rope_factors_short (LongRoPE), which plait does not compute yet");
  return dense_transformer(b, {.pairs = RopePairs::kNeighbours, .rope_divisors = true});
}

std::span<const Shape> llama_shapes() {
  static constexpr std::array<Shape, 2> kShapes{{
      {"tiny", R"({"vocab_size": 384, "context_length": 1024, "embedding_length": 64, "block_count": 2,
         "attention.head_count": 4, "attention.head_count_kv": 2, "feed_forward_length": 128,
         "attention.layer_norm_rms_epsilon": 1e-5, "rope.dimension_count": 16, "rope.freq_base": 10000.0,
         "tied": true})"},
      {"smollm2-135m", R"({"vocab_size": 32000, "context_length": 8192, "embedding_length": 576, "block_count": 30,
         "attention.head_count": 9, "attention.head_count_kv": 3, "feed_forward_length": 1536,
         "attention.layer_norm_rms_epsilon": 1e-5, "rope.dimension_count": 64, "rope.freq_base": 100000.0,
         "tied": true})"},
  }};
  return kShapes;
}

}  // namespace plait
