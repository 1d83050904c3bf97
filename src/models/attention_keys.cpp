// The keys that describe attention.
#include "models/attention_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/rope_keys.h"

namespace plait {

AttentionSpec attention_keys(Builder& b, const AttentionTraits& traits, int dim) {
  AttentionSpec spec;
  spec.dim = dim;
  spec.heads = b.positive("attention.head_count");
  spec.kv_heads = traits.kv_heads > 0 ? traits.kv_heads : b.positive("attention.head_count_kv", spec.heads);
  b.require(spec.heads % spec.kv_heads == 0,
            fmt::format("attention.head_count is {}, not a multiple of attention.head_count_kv {}", spec.heads,
                        spec.kv_heads));
  spec.key_dim = b.positive("attention.key_length", std::max(dim / spec.heads, 1));
  spec.value_dim = b.positive("attention.value_length", spec.key_dim);
  b.require(static_cast<long>(spec.heads) * std::max(spec.key_dim, spec.value_dim) <= 1 << 22,
            fmt::format("{} heads of {} are more than plait takes", spec.heads, spec.key_dim));
  const double scale = b.number("attention.scale", 0.0);
  spec.scale =
      scale != 0 ? static_cast<float>(scale) : static_cast<float>(1.0 / std::sqrt(static_cast<double>(spec.key_dim)));
  spec.pairs = traits.pairs;
  spec.gated = traits.gated;
  spec.norm_heads = traits.norm_heads;
  spec.norm_eps = static_cast<float>(b.number("attention.layer_norm_rms_epsilon"));
  spec.qkv_bias = traits.qkv_bias;
  spec.key_type = b.options().key_type;
  spec.value_type = b.options().value_type;
  spec.rotated = b.positive("rope.dimension_count", spec.key_dim);
  b.require(spec.rotated <= spec.key_dim,
            fmt::format("rope.dimension_count is {}, wanted at most the head size {}", spec.rotated, spec.key_dim));
  spec.rope = b.rope(rope_keys(b, spec.rotated, traits.rope_divisors));
  return spec;
}

}  // namespace plait
