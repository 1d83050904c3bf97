// Answers wanted as a whole, and prompts that are settled before their request runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/generate.h"

namespace plait {

// Makes the request's prompt a list of tokens, once; returns its text, if it had messages.
Result<std::string> settle_prompt(const Engine& engine, Request& request);

// All that one request came to.
struct Whole {
  std::string text, reasoning;
  std::vector<Token> tokens;
  std::vector<ScoredChoice> scores;  // One a token, if asked for.
  Event end;
};

// One for each request. None: there is nothing more to do, since the error was answered, or the client is gone.
std::optional<std::vector<Whole>> collect(Service& service, Reply& reply, Dialect dialect,
                                          std::vector<Request> requests, const GenerateOptions& options = {});

// What a request that asks for Request::embedding came to.
struct Embedding {
  std::vector<float> values;
  Usage usage;
};
std::optional<std::vector<Embedding>> collect_embeddings(Service& service, Reply& reply, Dialect dialect,
                                                         std::vector<Request> requests);

}  // namespace plait
