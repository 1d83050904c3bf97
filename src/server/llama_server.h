// What the files of llama-server's dialect share.
#pragma once

#include <optional>
#include <vector>

#include "server/fields.h"
#include "server/service.h"

namespace plait {

struct MixedOptions {
  std::size_t most_tokens = 0;
  bool add_special = false;
  bool parse_special = true;
};

// Tokens of a JSON value: a string, or a list in which ids and strings may stand mixed. Only a string that comes first
// gets what the vocabulary puts around a text, and that if `add_special`. `name` is what a fault calls the value.
std::optional<std::vector<Token>> mixed_tokens(Fields& fields, const Engine& engine, const std::string& name,
                                               const Json& value, const MixedOptions& options);

constexpr std::size_t kMostTextBytes = 512 << 10;  // Of a text that is cut into tokens for its own sake.

// temperature, top_k, ... as llama-server names them.
Json sampling_settings(const SampleOptions& sampling);

void add_token_routes(Router& router, Service& service);       // /tokenize, /detokenize, /tokenizer_info, ...
void add_completion_routes(Router& router, Service& service);  // /completion

}  // namespace plait
