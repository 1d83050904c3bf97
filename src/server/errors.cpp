// Errors in each dialect's shape.
#include "server/errors.h"

#include <nlohmann/json.hpp>

namespace plait {
namespace {

using Json = nlohmann::ordered_json;

// The names that OpenAI and Anthropic have for kinds of errors.
std::string_view kind_of(Dialect dialect, int status) {
  const bool anthropic = dialect == Dialect::kAnthropic;
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 404:
      return anthropic ? "not_found_error" : "invalid_request_error";
    case 413:
      return anthropic ? "request_too_large" : "invalid_request_error";
    case 429:
      return "rate_limit_error";
    case 503:
      return anthropic ? "overloaded_error" : "unavailable_error";
    default:
      return status < 500 ? "invalid_request_error" : anthropic ? "api_error" : "server_error";
  }
}

Json openai_code(int status) {
  switch (status) {
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
  HttpError made{400, error.message, std::string(field)};
  if (error.code == ErrorCode::kBusy) made.status = 429;
  if (error.code == ErrorCode::kCancelled) made.status = 499;
  if (error.code == ErrorCode::kIo) made.status = 500;
  return made;
}

std::string error_body(Dialect dialect, const HttpError& error) {
  const std::string_view kind = kind_of(dialect, error.status);
  Json body;
  switch (dialect) {
    case Dialect::kOpenAi:
      body = {{"error",
               {{"message", error.message},
                {"type", kind},
                {"param", error.field.empty() ? Json(nullptr) : Json(error.field)},
                {"code", openai_code(error.status)}}}};
      break;
    case Dialect::kAnthropic:
      body = {{"type", "error"}, {"error", {{"type", kind}, {"message", error.message}}}};
      break;
    case Dialect::kOllama:
      body = {{"error", error.message}};
      break;
    case Dialect::kLlamaServer:
      body = {{"error", {{"code", error.status}, {"message", error.message}, {"type", kind}}}};
      break;
  }
  return body.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void send_error(Reply& reply, Dialect dialect, const HttpError& error) {
  if (error.status == 429 || error.status == 503) reply.set_header("Retry-After", "1");
  reply.send(error.status, kJsonType, error_body(dialect, error));
}

}  // namespace plait
