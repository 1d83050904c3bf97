// What one POST /completion asks for, read and checked, and the parts of its reply.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "server/llama_server.h"
#include "server/whole.h"

namespace plait {

struct CompletionAsk {
  std::vector<Request> requests;  // n_cmpl for each prompt, each with its tokens.
  bool list = false;              // The reply is an array.
  bool stream = false;
  bool return_tokens = false;
  bool timings_per_token = false;
  bool return_progress = false;
  std::vector<std::string> response_fields;
  std::optional<std::int64_t> ping_s;  // Between signs of life; -1: none.
};

CompletionAsk read_completion(Fields& fields, const Engine& engine);

// {"id", "token", "bytes", "logprob", "top_logprobs"}
Json probabilities_json(const Engine& engine, Token token, const ScoredChoice& choice);

// The last object of a stream, and the only one without: all but content and tokens.
Json completion_end(const Service& service, const CompletionAsk& ask, int index, bool new_line, const Event& end);

// Only the members that the request names; "a/b" comes out as "a/b"'s last part.
Json chosen_members(Json whole, const std::vector<std::string>& names);

Json timings_json(int reused, int prompt, double prompt_ms, int predicted, double predicted_ms,
                  double predicted_per_second);

}  // namespace plait
