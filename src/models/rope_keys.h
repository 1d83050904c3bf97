// The keys that describe a rotary embedding (gguf-architectures.md 2, 3.1, 3.4).
#pragma once

#include "mixers/rope.h"
#include "models/builder.h"

namespace plait {

// Reads {a}.rope.*; with `divisors` also the tensor rope_freqs. Refuses, by name, what is not computed.
RopeSpec rope_keys(Builder& b, int rotated, bool divisors);

}  // namespace plait
