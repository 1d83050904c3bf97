// Ollama's answers: POST /api/chat and /api/generate, whole or a line of JSON a piece.
#include <fmt/format.h>

#include <functional>

#include "server/events.h"
#include "server/long_reply.h"
#include "server/ollama.h"
#include "server/ollama_ask.h"
#include "server/whole.h"

namespace plait {
namespace {

constexpr Dialect kDialect = Dialect::kOllama;

std::int64_t nanoseconds(double seconds) { return static_cast<std::int64_t>(seconds * 1e9); }

// chat and generate differ in where the text of an answer stands.
struct Shape {
  bool chat = true;
  std::string model;

  Json line(const std::string& text, const std::string& reasoning, bool done) const {
    Json json = {{"model", model}, {"created_at", ollama_time(std::chrono::system_clock::now())}};
    if (chat) {
      json["message"] = {{"role", "assistant"}, {"content", text}};
      if (!reasoning.empty()) json["message"]["thinking"] = reasoning;
    } else {
      json["response"] = text;
      if (!reasoning.empty()) json["thinking"] = reasoning;
    }
    json["done"] = done;
    return json;
  }
};

void add_end(Json& json, const Event& end) {
  const Usage& usage = end.usage;
  const auto seconds = [](int tokens, double rate) { return rate > 0 ? tokens / rate : 0; };
  const double prompt_s = seconds(usage.prompt_tokens, usage.prefill_tokens_per_s);
  const double answer_s = seconds(usage.generated_tokens - 1, usage.decode_tokens_per_s);
  json["done_reason"] = name_of(end.finish);
  json["total_duration"] = nanoseconds(std::max(usage.first_token_s, usage.queue_s + prompt_s) + answer_s);
  json["load_duration"] = 0;  // It was there before.
  json["prompt_eval_count"] = usage.prompt_tokens;
  json["prompt_eval_duration"] = nanoseconds(prompt_s);
  json["eval_count"] = usage.generated_tokens;
  json["eval_duration"] = nanoseconds(answer_s);
}

Json scored(const Engine& engine, Token token, double logprob) {
  const std::string bytes = engine.token_bytes(token);
  Json numbers = Json::array();
  for (const char byte : bytes) numbers.push_back(static_cast<unsigned char>(byte));
  return {{"token", bytes}, {"logprob", logprob}, {"bytes", std::move(numbers)}};
}

Json logprob_json(const Engine& engine, Token token, double logprob, const std::vector<ScoredToken>& others) {
  Json json = scored(engine, token, logprob);
  if (others.empty()) return json;
  for (const ScoredToken& other : others) json["top_logprobs"].push_back(scored(engine, other.token, other.logprob));
  return json;
}

void answer_whole(Service& service, const Shape& shape, Request request, const GenerateOptions& options, Reply& reply) {
  const auto wholes = collect(service, reply, kDialect, {std::move(request)}, options);
  if (!wholes) return;
  const Whole& whole = wholes->front();
  Json json = shape.line(whole.text, whole.reasoning, true);
  add_end(json, whole.end);
  if (whole.scores.empty()) return send_json(reply, json);
  const auto entry = [&](std::size_t i) {
    return logprob_json(service.engine, whole.tokens[i], whole.scores[i].logprob, whole.scores[i].alternatives);
  };
  LongReply out(reply);
  out.add_object(json, "\"logprobs\":[", whole.scores.size(), entry, "]");
  out.end();
}

void answer_stream(Service& service, const Shape& shape, Request request, const GenerateOptions& options,
                   Reply& reply) {
  const auto write = [&](const Json& json) {
    if (!reply.begun()) reply.begin(200, kJsonLinesType);
    reply.write(json_text(json) + "\n");
  };
  const bool with_scores = request.logprobs.has_value();
  GenerateSink sink;
  sink.piece = [&](const Piece& piece) {
    const bool has_score = with_scores && piece.event != nullptr && piece.event->kind == Event::Kind::kToken;
    if (piece.text.empty() && piece.reasoning.empty() && !has_score) return;
    Json json = shape.line(piece.text, piece.reasoning, false);
    if (has_score)
      json["logprobs"].push_back(
          logprob_json(service.engine, piece.event->token, piece.event->logprob, piece.event->alternatives));
    write(json);
  };
  sink.finish = [&](int, const Event& end) {
    Json json = shape.line("", "", true);
    add_end(json, end);
    write(json);
  };
  sink.keep_alive = [&] { write(shape.line("", "", false)); };
  const Result<void> done = generate(service, reply, {std::move(request)}, options, sink);
  if (!done && reply.begun()) {
    reply.write(error_body(kDialect, http_error(done.error())) + "\n");
  } else if (!done || !reply.begun()) {
    send_error(reply, kDialect, done ? HttpError{499, "the client has left", {}} : http_error(done.error()));
  }
}

// The prompt and num_ctx are one bound together.
std::optional<HttpError> fit(const OllamaAsk& ask, Request& request) {
  if (!ask.num_ctx) return std::nullopt;
  const int room = *ask.num_ctx - static_cast<int>(std::min<std::size_t>(request.tokens.size(), 1u << 30));
  if (room < 1)
    return HttpError{
        400,
        fmt::format("the prompt has {} tokens, which leaves no room for an answer in options.num_ctx of {}",
                    request.tokens.size(), *ask.num_ctx),
        "options.num_ctx"};
  if (request.max_tokens < 0 || request.max_tokens > room) request.max_tokens = room;
  return std::nullopt;
}

using Read = OllamaAsk (*)(Fields& fields, const ModelInfo& model);

void answer(Service& service, const HttpRequest& http, Reply& reply, bool chat, Read read) {
  Fields fields(http.body);
  OllamaAsk ask = read(fields, service.engine.info());
  if (fields.error()) return send_error(reply, kDialect, *fields.error());
  const Shape shape{.chat = chat, .model = ask.model.empty() ? service.model_name : ask.model};
  if (ask.load) {
    Json json = shape.line("", "", true);
    json["done_reason"] = "load";
    return send_json(reply, json);
  }
  const Result<std::string> prompt = settle_prompt(service.engine, ask.request);
  if (!prompt) return send_error(reply, kDialect, http_error(prompt.error()));
  if (const auto error = fit(ask, ask.request)) return send_error(reply, kDialect, *error);
  AnswerHold hold(service.answers);
  if (const auto error = hold.take({&ask.request, 1}, service.engine.info().context, {.whole = !ask.stream},
                                   "top_logprobs", "options.num_predict"))
    return send_error(reply, kDialect, *error);
  const GenerateOptions options{.split_reasoning = !ask.raw, .starts_in_reasoning = ends_in_reasoning(*prompt)};
  if (ask.stream) return answer_stream(service, shape, std::move(ask.request), options, reply);
  answer_whole(service, shape, std::move(ask.request), options, reply);
}

}  // namespace

void add_ollama_answer_routes(Router& router, Service& service) {
  router.add("POST", "/api/chat", [&](const HttpRequest& request, Reply& reply) {
    answer(service, request, reply, true, read_ollama_chat);
  });
  router.add("POST", "/api/generate", [&](const HttpRequest& request, Reply& reply) {
    answer(service, request, reply, false, read_ollama_generate);
  });
}

}  // namespace plait
