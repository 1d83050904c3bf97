// The keys that describe experts (gguf-architectures.md 2, 3.2).
#pragma once

#include "ffn/moe.h"
#include "models/builder.h"

namespace plait {

// Reads {a}.expert_count, expert_used_count, expert_feed_forward_length, expert_shared_feed_forward_length,
// expert_gating_func, expert_group_count, expert_group_used_count, expert_weights_norm and expert_weights_scale, and
// checks them together. What the file does not say is as in `usual`; its activation, selection bias, shared gate and
// guard are taken as they are. A usual `hidden` of zero stands for {a}.feed_forward_length / expert_used_count. With a
// usual `shared_hidden` of zero there is no shared expert, and with a usual `normalise` weights are always normalised,
// whatever the file says.
MoeSpec expert_keys(Builder& b, const MoeSpec& usual, int dim);

}  // namespace plait
