// POST /completion: the answer, whole and as a stream.
#include "server/llama_server_completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "server/events.h"
#include "server/long_reply.h"

namespace plait {
namespace {

constexpr Dialect kDialect = Dialect::kLlamaServer;
using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point from) {
  return std::chrono::duration<double, std::milli>(Clock::now() - from).count();
}

bool has_new_line(std::string_view text) { return text.find('\n') != std::string_view::npos; }

Json scored_token(const Engine& engine, Token token, double logprob) {
  const std::string bytes = engine.token_bytes(token);
  Json numbers = Json::array();
  for (const char byte : bytes) numbers.push_back(static_cast<unsigned char>(byte));
  return {{"id", token}, {"token", bytes}, {"bytes", std::move(numbers)}, {"logprob", logprob}};
}

Json settings_json(const CompletionAsk& ask, const Request& request) {
  Json settings = sampling_settings(request.sampling);
  settings["stop"] = request.stop;
  settings["max_tokens"] = request.max_tokens;
  settings["n_predict"] = request.max_tokens;
  settings["ignore_eos"] = request.ignore_end;
  settings["stream"] = ask.stream;
  Json biases = Json::array();
  for (const TokenBias& bias : request.sampling.logit_bias) {
    const bool never = bias.bias == -std::numeric_limits<double>::infinity();
    biases.push_back({{"token", bias.token}, {"bias", never ? Json(false) : Json(bias.bias)}});
  }
  settings["logit_bias"] = std::move(biases);
  settings["n_probs"] = request.logprobs.value_or(0);
  settings["timings_per_token"] = ask.timings_per_token;
  return settings;
}

std::string_view stop_type(const Event& end) {
  if (end.finish == FinishReason::kStop) return end.stop.empty() ? "eos" : "word";
  return end.finish == FinishReason::kLength ? "limit" : "none";
}

// Figures of the engine, once it is over.
Json timings_of(const Usage& usage) {
  const auto ms = [](int tokens, double rate) { return rate > 0 ? tokens / rate * 1000 : 0; };
  return timings_json(usage.reused_tokens, usage.prompt_tokens, ms(usage.prompt_tokens, usage.prefill_tokens_per_s),
                      usage.generated_tokens, ms(usage.generated_tokens - 1, usage.decode_tokens_per_s),
                      usage.decode_tokens_per_s);
}

void answer_whole(Service& service, const CompletionAsk& ask, Reply& reply) {
  const auto wholes = collect(service, reply, kDialect, ask.requests);
  if (!wholes) return;
  const std::vector<std::string>& names = ask.response_fields;
  const bool shows_scores =
      names.empty() || std::find(names.begin(), names.end(), "completion_probabilities") != names.end();
  LongReply out(reply);
  if (ask.list) out.add("[");
  for (std::size_t i = 0; i < wholes->size(); ++i) {
    const Whole& whole = (*wholes)[i];
    if (i > 0) out.add(",");
    Json one = completion_end(service, ask, static_cast<int>(i), has_new_line(whole.text), whole.end);
    one["content"] = whole.text;
    if (ask.return_tokens) one["tokens"] = whole.tokens;
    one = chosen_members(std::move(one), names);
    if (whole.scores.empty() || !shows_scores) {
      out.add(json_text(one));
      continue;
    }
    const auto entry = [&](std::size_t k) {
      return probabilities_json(service.engine, whole.tokens[k], whole.scores[k]);
    };
    out.add_object(one, "\"completion_probabilities\":[", whole.scores.size(), entry, "]");
  }
  if (ask.list) out.add("]");
  out.end();
}

// Hands a stream's pieces on as they come, and measures as it goes.
class Streamer {
 public:
  Streamer(Service& service, const CompletionAsk& ask, Reply& reply)
      : service_(service), ask_(ask), events_(reply), choices_(ask.requests.size()) {}

  GenerateSink sink() {
    return {.prefill = [this](int done, int total) { prefill(done, total); },
            .piece = [this](const Piece& piece) { say(piece); },
            .finish = [this](int choice, const Event& end) { finish(choice, end); },
            .keep_alive = [this] { events_.keep_alive(); }};
  }

 private:
  struct Choice {
    int tokens = 0;
    bool new_line = false;
    Clock::time_point first;
  };

  Json chunk(int index, std::string content, std::vector<Token> tokens) {
    const auto i = static_cast<std::size_t>(index);
    Json json = {{"index", index},
                 {"content", std::move(content)},
                 {"tokens", std::move(tokens)},
                 {"stop", false},
                 {"id_slot", index},
                 {"tokens_predicted", choices_[i].tokens},
                 {"tokens_evaluated", ask_.requests[i].tokens.size()}};
    if (ask_.timings_per_token) {
      const Choice& choice = choices_[i];
      const double ms = choice.tokens > 0 ? ms_since(choice.first) : 0;
      json["timings"] = timings_json(0, static_cast<int>(ask_.requests[i].tokens.size()), prompt_ms_, choice.tokens, ms,
                                     ms > 0 ? (choice.tokens - 1) / ms * 1000 : 0);
    }
    return json;
  }

  void prefill(int done, int total) {
    prompt_ms_ = ms_since(begun_);
    if (!ask_.return_progress) return;
    Json json = chunk(0, {}, {});
    json["prompt_progress"] = {{"total", total}, {"cache", 0}, {"processed", done}, {"time_ms", prompt_ms_}};
    events_.data(json);
  }

  void say(const Piece& piece) {
    const bool is_token = piece.event != nullptr && piece.event->kind == Event::Kind::kToken;
    const auto i = static_cast<std::size_t>(piece.choice);
    Choice& choice = choices_[i];
    choice.new_line = choice.new_line || has_new_line(piece.text);
    if (is_token && choice.tokens++ == 0) choice.first = Clock::now();
    Json json = chunk(piece.choice, piece.text, is_token ? std::vector{piece.event->token} : std::vector<Token>());
    if (is_token && ask_.requests[i].logprobs)
      json["completion_probabilities"].push_back(
          probabilities_json(service_.engine, piece.event->token, {piece.event->logprob, piece.event->alternatives}));
    events_.data(json);
  }

  void finish(int choice, const Event& end) {
    const bool new_line = choices_[static_cast<std::size_t>(choice)].new_line;
    events_.data(chosen_members(completion_end(service_, ask_, choice, new_line, end), ask_.response_fields));
  }

  Service& service_;
  const CompletionAsk& ask_;
  EventStream events_;
  std::vector<Choice> choices_;
  Clock::time_point begun_ = Clock::now();
  double prompt_ms_ = 0;
};

void answer_stream(const Service& service, const CompletionAsk& ask, Reply& reply) {
  Service own = service;  // With this request's time between signs of life.
  if (ask.ping_s)
    own.keep_alive_ms =
        static_cast<int>(*ask.ping_s < 0 ? 1 << 30 : std::min<std::int64_t>(*ask.ping_s, 1 << 20) * 1000);
  Streamer streamer(own, ask, reply);
  const Result<void> done = generate(own, reply, ask.requests, {}, streamer.sink());
  if (done || reply.gone()) return;
  const HttpError error = http_error(done.error());
  if (!reply.begun()) return send_error(reply, kDialect, error);
  reply.write(fmt::format("data: {}\n\n", error_body(kDialect, error)));
}

void complete(Service& service, const HttpRequest& request, Reply& reply) {
  Fields fields(request.body);
  const CompletionAsk ask = read_completion(fields, service.engine);
  if (fields.error()) return send_error(reply, kDialect, *fields.error());
  AnswerHold hold(service.answers);
  if (const auto error =
          hold.take(ask.requests, service.engine.info().context, {.whole = !ask.stream}, "n_probs", "n_predict"))
    return send_error(reply, kDialect, *error);
  if (ask.stream) return answer_stream(service, ask, reply);
  answer_whole(service, ask, reply);
}

}  // namespace

Json probabilities_json(const Engine& engine, Token token, const ScoredChoice& choice) {
  Json json = scored_token(engine, token, choice.logprob);
  Json best = Json::array();
  for (const ScoredToken& other : choice.alternatives) best.push_back(scored_token(engine, other.token, other.logprob));
  json["top_logprobs"] = std::move(best);
  return json;
}

Json timings_json(int reused, int prompt, double prompt_ms, int predicted, double predicted_ms,
                  double predicted_per_second) {
  const int computed = prompt - reused;
  const auto each = [](double ms, int count) { return count > 0 ? ms / count : 0; };
  return {{"cache_n", reused},
          {"prompt_n", computed},
          {"prompt_ms", prompt_ms},
          {"prompt_per_token_ms", each(prompt_ms, computed)},
          {"prompt_per_second", prompt_ms > 0 ? computed / prompt_ms * 1000 : 0},
          {"predicted_n", predicted},
          {"predicted_ms", predicted_ms},
          {"predicted_per_token_ms", predicted_per_second > 0 ? 1000 / predicted_per_second : 0},
          {"predicted_per_second", predicted_per_second}};
}

Json completion_end(const Service& service, const CompletionAsk& ask, int index, bool new_line, const Event& end) {
  const Request& request = ask.requests[static_cast<std::size_t>(index)];
  const Usage& usage = end.usage;
  const bool full = end.finish == FinishReason::kLength && usage.generated_tokens != request.max_tokens;
  return {{"index", index},
          {"content", ""},
          {"tokens", Json::array()},
          {"id_slot", index},
          {"stop", true},
          {"model", service.model_name},
          {"tokens_predicted", usage.generated_tokens},
          {"tokens_evaluated", usage.prompt_tokens},
          {"generation_settings", settings_json(ask, request)},
          {"prompt", service.engine.detokenize(request.tokens)},
          {"has_new_line", new_line},
          {"truncated", full},
          {"stop_type", stop_type(end)},
          {"stopping_word", end.stop},
          {"tokens_cached", usage.reused_tokens},
          {"timings", timings_of(usage)}};
}

Json chosen_members(Json whole, const std::vector<std::string>& names) {
  if (names.empty()) return whole;
  Json chosen = Json::object();
  for (const std::string& name : names) {
    const Json* at = &whole;
    std::string part;
    for (std::size_t from = 0; at != nullptr && from <= name.size(); from += part.size() + 1) {
      part = name.substr(from, name.find('/', from) - from);
      const auto found = at->is_object() ? at->find(part) : at->end();
      at = found == at->end() ? nullptr : &*found;
    }
    if (at != nullptr) chosen[part] = *at;
  }
  return chosen;
}

void add_completion_routes(Router& router, Service& service) {
  for (const char* path : {"/completion", "/completions"})
    router.add("POST", path, [&](const HttpRequest& request, Reply& reply) { complete(service, request, reply); });
}

}  // namespace plait
