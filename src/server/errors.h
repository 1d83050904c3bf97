// Errors in the shapes that each dialect's clients read.
#pragma once

#include <string>
#include <string_view>

#include "plait/result.h"
#include "server/http.h"

namespace plait {

enum class Dialect { kOpenAi, kAnthropic, kOllama, kLlamaServer };

// By path: /v1/messages... is Anthropic's, /api/... Ollama's, other /v1/... OpenAI's, the rest llama-server's.
Dialect dialect_of(std::string_view path);

struct HttpError {
  int status = 400;
  std::string message;         // One sentence.
  std::string field;           // The JSON field at fault; empty if none.
  std::string_view code = {};  // What OpenAI calls it, of static lifetime; empty: what it calls the status.
};

// OpenAI's code of a prompt for which there is no room.
inline constexpr std::string_view kContextLengthExceeded = "context_length_exceeded";

// Of the engine. What the client can mend is 400: kInvalidArgument, kTooLong, kUnsupported and kNotFound, where `field`
// is at fault (a model that is not there: 404, made by its caller). What the engine cannot go on with is 500: kCorrupt,
// kNoMemory and kIo. kBusy: 429; kCancelled: 499.
HttpError http_error(const Error& error, std::string_view field = {});

// OpenAI {"error":{"message","type","param","code"}}, Anthropic {"type":"error","error":{"type","message"}},
// Ollama {"error"}, llama-server {"error":{"code","message","type"}}. One line of JSON; what is too long for a sentence
// is left out of its middle.
std::string error_body(Dialect dialect, const HttpError& error);

// Sends it, with Retry-After for 429 and 503. Only before the reply has begun.
void send_error(Reply& reply, Dialect dialect, const HttpError& error);

}  // namespace plait
