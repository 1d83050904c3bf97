// Prompts that are texts or token ids, as completions and embeddings take them.
#pragma once

#include <string_view>
#include <vector>

#include "plait/engine.h"
#include "server/fields.h"

namespace plait {

// A text, a list of token ids, or a list of at most `most` of these: a request for each.
std::vector<Request> read_prompts(Fields& fields, std::string_view key, std::size_t most);

}  // namespace plait
