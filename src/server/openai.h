// What OpenAI's endpoints have in common: fields, usage, names, and how a reply ends.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "plait/engine.h"
#include "server/events.h"
#include "server/fields.h"
#include "server/service.h"

namespace plait {

constexpr int kMostChoices = 16;  // n

struct StreamFields {
  bool on = false;        // stream
  bool usage = false;     // stream_options.include_usage
  bool progress = false;  // return_progress, as llama-server has it
};
StreamFields read_stream(Fields& fields);

// Fields of OpenAI's, llama-server's and vLLM's that no endpoint here does.
void refuse_openai(Fields& fields);
// Only {"type": "text"}.
void refuse_formats(Fields& fields, std::string_view key);
// How much a model is to think: a variable for its template, if that has one for it; else refused.
void read_effort(Fields& fields, std::string_view key, const ModelInfo& model, Json& variables);

// Over all choices; a prompt counts once, whatever n is.
struct UsageSum {
  int prompt_tokens = 0, reused_tokens = 0, generated_tokens = 0, reasoning_tokens = 0;
  void add(const Usage& usage, bool first_of_prompt);
  Json json() const;
};

std::int64_t unix_time();
// Changes when the same seed may have another answer.
std::string fingerprint(const ModelInfo& model);
// {"id", "object", "created", "model", "system_fingerprint"}
Json reply_head(const Service& service, std::string_view id_prefix, std::string_view object);

// "stop" or "length".
std::string_view finish_name(const Event& finish);

// What generate() came to. False, and the reply is done: there was an error, or nobody reads.
bool went_well(Reply& reply, const Result<void>& ran);

void add_chat_routes(Router& router, Service& service);
void add_openai_completion_routes(Router& router, Service& service);
void add_model_routes(Router& router, Service& service);
void add_embedding_routes(Router& router, Service& service);

}  // namespace plait
