// The keys that describe a rotary embedding.
#include "models/rope_keys.h"

#include <fmt/format.h>

#include "base/text.h"

namespace plait {

RopeSpec rope_keys(Builder& b, int rotated, bool divisors) {
  RopeSpec spec;
  spec.rotated = rotated;
  spec.freq_base = b.number("rope.freq_base", 10000.0);
  const std::string type = b.text("rope.scaling.type", "linear");
  const double factor = b.number("rope.scaling.factor", b.number("rope.scale_linear", 1.0));
  spec.factor = factor != 0 ? factor : 1.0;  // Zero stands for "none" in older files.
  if (type == "linear") {
    spec.scaling = spec.factor != 1.0 ? RopeScaling::kLinear : RopeScaling::kNone;
  } else if (type == "yarn") {
    spec.scaling = RopeScaling::kYarn;
    spec.original_context = b.number("rope.scaling.original_context_length", b.integer("context_length"));
    spec.beta_fast = b.number("rope.scaling.yarn_beta_fast", 32.0);
    spec.beta_slow = b.number("rope.scaling.yarn_beta_slow", 1.0);
  } else {
    b.require(type == "none", fmt::format("rope.scaling.type is '{}', wanted none, linear or yarn", printable(type)));
  }
  for (const char* key : {"rope.scaling.attn_factor", "rope.scaling.yarn_attn_factor"}) {
    const double value = b.number(key, 1.0);
    b.require(value == 1.0, fmt::format("{} is {}, of which plait only computes 1", key, value));
  }
  if (divisors) spec.divisors = b.floats("rope_freqs.weight", rotated / 2);
  return spec;
}

}  // namespace plait
