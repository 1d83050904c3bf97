// Ollama's embeddings: POST /api/embed, and the older /api/embeddings.
#include <fmt/format.h>

#include "server/events.h"
#include "server/ollama.h"
#include "server/ollama_ask.h"
#include "server/whole.h"

namespace plait {
namespace {

constexpr Dialect kDialect = Dialect::kOllama;
constexpr std::size_t kMostInputs = 512;

// Nothing: the error has been answered.
std::optional<Request> request_of(const Service& service, const std::string& name, const std::string& text,
                                  bool truncate, Reply& reply) {
  Request request;
  request.text = text;
  const Result<std::string> prompt = settle_prompt(service.engine, request);
  if (!prompt) {
    send_error(reply, kDialect, {400, fmt::format("{}: {}", name, prompt.error().message), name});
    return std::nullopt;
  }
  const auto most = static_cast<std::size_t>(service.engine.info().context - 1);
  if (truncate && request.tokens.size() > most) request.tokens.resize(most);
  request.embedding = Pooling::kMean;
  request.max_tokens = 0;
  return request;
}

void read_shared(Fields& fields, const Service& service) {
  fields.string("model");
  OllamaAsk unused;
  read_ollama_options(fields, service.engine.info(), unused);
  if (unused.num_ctx) fields.fault("options.num_ctx", "options.num_ctx is of no use here; truncate is");
  fields.refuse({"dimensions"});
}

void embed(Service& service, const HttpRequest& http, Reply& reply) {
  Fields fields(http.body);
  read_shared(fields, service);
  fields.require("input");
  const std::vector<std::string> inputs = fields.strings("input", kMostInputs);
  const bool truncate = fields.boolean("truncate").value_or(true);
  if (fields.error()) return send_error(reply, kDialect, *fields.error());
  std::vector<Request> requests;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    auto request = request_of(service, fmt::format("input[{}]", i), inputs[i], truncate, reply);
    if (!request) return;
    requests.push_back(std::move(*request));
  }
  const auto begun = std::chrono::steady_clock::now();
  const auto embeddings = collect_embeddings(service, reply, kDialect, std::move(requests));
  if (!embeddings) return;
  Json vectors = Json::array();
  std::int64_t tokens = 0;
  for (const Embedding& embedding : *embeddings) {
    vectors.push_back(embedding.values);
    tokens += embedding.usage.prompt_tokens;
  }
  const auto taken = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begun);
  send_json(reply, {{"model", fields.string("model").value_or(service.model_name)},
                    {"embeddings", std::move(vectors)},
                    {"total_duration", taken.count()},
                    {"load_duration", 0},
                    {"prompt_eval_count", tokens}});
}

void embeddings_of_one(Service& service, const HttpRequest& http, Reply& reply) {
  Fields fields(http.body);
  read_shared(fields, service);
  fields.require("prompt");
  const std::string prompt = fields.string("prompt").value_or("");
  if (fields.error()) return send_error(reply, kDialect, *fields.error());
  auto request = request_of(service, "prompt", prompt, true, reply);
  if (!request) return;
  const auto embeddings = collect_embeddings(service, reply, kDialect, {std::move(*request)});
  if (embeddings) send_json(reply, {{"embedding", embeddings->front().values}});
}

}  // namespace

void add_ollama_embedding_routes(Router& router, Service& service) {
  router.add("POST", "/api/embed", [&](const HttpRequest& request, Reply& reply) { embed(service, request, reply); });
  router.add("POST", "/api/embeddings",
             [&](const HttpRequest& request, Reply& reply) { embeddings_of_one(service, request, reply); });
}

}  // namespace plait
