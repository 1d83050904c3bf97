// The keys that describe experts.
#include "models/expert_keys.h"

#include <fmt/format.h>

namespace plait {
namespace {

constexpr int kMaxExperts = 1024;
constexpr std::int64_t kMaxTokenFloats = 1 << 24;  // Of what all experts of one token make.

Gating gating(Builder& b, Gating usual) {
  const int function = b.integer("expert_gating_func", usual == Gating::kSoftmax ? 1 : 2);
  b.require(function == 1 || function == 2,
            fmt::format("expert_gating_func is {}, wanted 1 (softmax) or 2 (sigmoid)", function));
  return function == 1 ? Gating::kSoftmax : Gating::kSigmoid;
}

void check_sizes(Builder& b, const MoeSpec& spec) {
  b.require(spec.experts <= kMaxExperts,
            fmt::format("expert_count is {}, wanted at most {}", spec.experts, kMaxExperts));
  b.require(spec.used <= spec.experts,
            fmt::format("expert_used_count is {}, wanted at most expert_count {}", spec.used, spec.experts));
  b.require(spec.hidden >= 2 && spec.dim >= 2,
            fmt::format("the experts make {} values from {}, wanted at least 2", spec.hidden, spec.dim));
  b.require(std::int64_t{spec.used} * (spec.hidden + spec.dim) <= kMaxTokenFloats,
            fmt::format("{} experts of {} values for a token are more than plait takes", spec.used, spec.hidden));
  b.require(spec.groups <= kMaxExpertGroups && spec.experts % spec.groups == 0,
            fmt::format("expert_group_count is {}, wanted a divisor of expert_count {}, at most {}", spec.groups,
                        spec.experts, kMaxExpertGroups));
  b.require(spec.groups_used <= spec.groups,
            fmt::format("expert_group_used_count is {}, wanted at most {}", spec.groups_used, spec.groups));
  b.require(std::int64_t{spec.used} <= std::int64_t{spec.groups_used} * (spec.experts / spec.groups),
            fmt::format("expert_used_count is {}, and {} of {} groups have {} experts", spec.used, spec.groups_used,
                        spec.groups, spec.groups_used * (spec.experts / spec.groups)));
}

}  // namespace

MoeSpec expert_keys(Builder& b, const MoeSpec& usual, int dim) {
  MoeSpec spec = usual;
  spec.dim = dim;
  spec.experts = b.positive("expert_count");
  spec.used = b.positive("expert_used_count");
  const bool has_hidden = usual.hidden > 0 || b.has_key("expert_feed_forward_length");
  spec.hidden = has_hidden ? b.positive("expert_feed_forward_length", usual.hidden > 0 ? usual.hidden : 1)
                           : b.positive("feed_forward_length") / spec.used;
  if (usual.shared_hidden > 0)
    spec.shared_hidden = b.positive("expert_shared_feed_forward_length", usual.shared_hidden);
  spec.gating = gating(b, usual.gating);
  const int groups = b.integer("expert_group_count", usual.groups);
  if (groups > 1) {
    spec.groups = groups;
    spec.groups_used = b.positive("expert_group_used_count", usual.groups_used);
  }
  if (!usual.normalise) spec.normalise = b.flag("expert_weights_norm", false);
  spec.scale = static_cast<float>(b.number("expert_weights_scale", static_cast<double>(usual.scale)));
  check_sizes(b, spec);
  return spec;
}

}  // namespace plait
