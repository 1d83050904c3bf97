// Errors in each dialect's shape.
#include "server/errors.h"

#include <nlohmann/json.hpp>

namespace plait {
namespace {

using Json = nlohmann::ordered_json;

// The names that dialects have for kinds of errors; llama-server's are OpenAI's and some of its own.
std::string_view kind_of(Dialect dialect, const HttpError& error) {
  const bool anthropic = dialect == Dialect::kAnthropic;
  if (dialect == Dialect::kLlamaServer && error.code == kContextLengthExceeded) return "exceed_context_size_error";
  switch (error.status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 404:
      return dialect == Dialect::kOpenAi ? "invalid_request_error" : "not_found_error";
    case 413:
      return anthropic ? "request_too_large" : "invalid_request_error";
    case 429:
      return "rate_limit_error";
    case 503:
      return anthropic ? "overloaded_error" : "unavailable_error";
    default:
      return error.status < 500 ? "invalid_request_error" : anthropic ? "api_error" : "server_error";
  }
}

// A sentence may quote a value of megabytes: its beginning says what, its end what was wanted.
std::string shortened(const std::string& message) {
  constexpr std::size_t kHead = 400, kTail = 150;
  if (message.size() <= 2 * (kHead + kTail)) return message;
  const auto border = [&](std::size_t at) {  // Not in the middle of a character.
    while ((static_cast<unsigned char>(message[at]) & 0xc0u) == 0x80u) --at;
    return at;
  };
  return message.substr(0, border(kHead)) + " ... " + message.substr(border(message.size() - kTail));
}

Json openai_code(const HttpError& error) {
  if (!error.code.empty()) return error.code;
  switch (error.status) {
    case 401:
      return "invalid_api_key";
    case 404:
      return "not_found";
    case 429:
      return "rate_limit_exceeded";
    default:
      return nullptr;
  }
}

}  // namespace

Dialect dialect_of(std::string_view path) {
  if (path == "/v1/messages" || path.starts_with("/v1/messages/")) return Dialect::kAnthropic;
  if (path.starts_with("/api/")) return Dialect::kOllama;
  if (path.starts_with("/v1/")) return Dialect::kOpenAi;
  return Dialect::kLlamaServer;
}

HttpError http_error(const Error& error, std::string_view field) {
  switch (error.code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kUnsupported:
    case ErrorCode::kNotFound:
      return {400, error.message, std::string(field)};
    case ErrorCode::kTooLong:
      return {400, error.message, std::string(field), kContextLengthExceeded};
    case ErrorCode::kBusy:
      return {429, error.message, {}};
    case ErrorCode::kCancelled:
      return {499, error.message, {}};
    case ErrorCode::kCorrupt:  // Bodies are checked before: what is corrupt is the model or what it computes.
    case ErrorCode::kNoMemory:
    case ErrorCode::kIo:
      break;
  }
  return {500, error.message, {}};  // No field of the request could be mended.
}

std::string error_body(Dialect dialect, const HttpError& error) {
  const std::string_view kind = kind_of(dialect, error);
  const std::string message = shortened(error.message);
  Json body;
  switch (dialect) {
    case Dialect::kOpenAi:
      body = {{"error",
               {{"message", message},
                {"type", kind},
                {"param", error.field.empty() ? Json(nullptr) : Json(error.field)},
                {"code", openai_code(error)}}}};
      break;
    case Dialect::kAnthropic:
      body = {{"type", "error"}, {"error", {{"type", kind}, {"message", message}}}};
      break;
    case Dialect::kOllama:
      body = {{"error", message}};
      break;
    case Dialect::kLlamaServer:
      body = {{"error", {{"code", error.status}, {"message", message}, {"type", kind}}}};
      break;
  }
  return body.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void send_error(Reply& reply, Dialect dialect, const HttpError& error) {
  if (error.status == 429 || error.status == 503) reply.set_header("Retry-After", "1");
  reply.send(error.status, kJsonType, error_body(dialect, error));
}

}  // namespace plait
