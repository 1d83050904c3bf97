// Fields about how tokens are chosen and when an answer ends, under the names that the dialects share.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "plait/engine.h"
#include "server/fields.h"

namespace plait {

// temperature, top_k, top_p, min_p, repetition_penalty or repeat_penalty, presence_penalty, frequency_penalty,
// repeat_last_n, seed, logit_bias and ignore_eos into the request, over what the model recommends. Knobs that other
// servers have and plait has not are refused unless they are off. Without a seed, or with -1, it is a random one.
void read_sampling(Fields& fields, const ModelInfo& model, Request& request);

// A string or a list of them, checked.
void read_stop(Fields& fields, std::string_view key, Request& request);

// The first of the keys that is there; -1: as many as fit.
void read_max_tokens(Fields& fields, std::initializer_list<std::string_view> keys, Request& request);

// Known, not done here, and of no effect with this value.
void refuse_unless(Fields& fields, std::string_view key, const Json& value);

}  // namespace plait
