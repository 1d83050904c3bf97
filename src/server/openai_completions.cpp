// POST /v1/completions.
#include <fmt/format.h>

#include <algorithm>

#include "server/generate.h"
#include "server/openai_reply.h"
#include "server/prompts.h"
#include "server/sampling_fields.h"
#include "server/token_scores.h"

namespace plait {
namespace {

constexpr std::size_t kMostPrompts = 128;
constexpr std::size_t kMostAnswers = 128;      // Prompts times n; the engine's queue must have room for others.
constexpr std::size_t kColumnScoreBytes = 96;  // A member of an object: its name and its number.

struct CompletionCall {
  std::vector<Request> requests;  // One for each prompt, later n.
  std::vector<Prompt> prompts;
  StreamFields stream;
  std::optional<int> logprobs;
  std::size_t n = 1;
  bool echo = false;
};

CompletionCall read_completion(Fields& fields, const ModelInfo& model) {
  CompletionCall call;
  Request common;
  common.max_tokens = 16;  // OpenAI's default.
  read_sampling(fields, model, common);
  read_stop(fields, "stop", common);
  read_max_tokens(fields, {"max_tokens", "max_completion_tokens"}, common);
  if (const auto best = fields.integer("logprobs", 0, 20)) call.logprobs = static_cast<int>(*best);
  call.echo = fields.boolean("echo").value_or(false);
  call.stream = read_stream(fields);
  call.n = static_cast<std::size_t>(fields.integer("n", 1, kMostChoices).value_or(1));
  const auto best_of = fields.integer("best_of", 1, kMostChoices);
  if (best_of && *best_of != static_cast<std::int64_t>(call.n))
    fields.fault("best_of", fmt::format("best_of is {} and n is {}: other values are not supported", *best_of, call.n));
  fields.refuse({"suffix", "top_logprobs", "messages"});
  refuse_openai(fields);
  refuse_formats(fields, "response_format");
  common.logprobs = call.logprobs;
  if (call.echo) common.prompt_logprobs = call.logprobs;
  // Who scores a prompt takes the answer's one token off the lists, so it has to be there even if it is the end.
  if (call.echo && call.logprobs && common.max_tokens == 1) common.ignore_end = true;
  call.requests = read_prompts(fields, "prompt", kMostPrompts);
  if (call.requests.size() * call.n > kMostAnswers)
    fields.fault("n", fmt::format("{} prompts and n of {} make {} choices, wanted at most {}", call.requests.size(),
                                  call.n, call.requests.size() * call.n, kMostAnswers));
  for (Request& request : call.requests) {
    common.text = std::move(request.text);
    common.tokens = std::move(request.tokens);
    request = common;
  }
  return call;
}

// Cuts the prompts; the requests are then of tokens, n for each prompt.
Result<void> prepare(Engine& engine, CompletionCall& call) {
  std::vector<Request> requests;
  for (Request& request : call.requests) {
    Result<Prompt> prompt = engine.prepare(request);
    if (!prompt) return fail(prompt.error());
    if (prompt->tokens.empty())
      return fail(ErrorCode::kInvalidArgument, "the prompt has no tokens, wanted at least one");
    if (call.echo && !request.text) prompt->text = engine.detokenize(prompt->tokens);
    request.text.reset();
    request.tokens = prompt->tokens;
    for (std::size_t i = 0; i < call.n; ++i) {
      requests.push_back(request);
      requests.back().sampling.seed += i;
    }
    call.prompts.push_back(std::move(*prompt));
  }
  call.requests = std::move(requests);
  return {};
}

class CompletionReply {
 public:
  CompletionReply(Service& service, Reply& reply, const CompletionCall& call);
  GenerateSink sink();
  void end(const Result<void>& ran) {
    reply_.end(ran, choices_.size(),
               [this](std::size_t index, LongReply& out) { out.add(json_text(take_choice(index))); });
  }

 private:
  struct Choice {
    const Prompt* prompt = nullptr;
    std::string text = {};   // All of it, or on a stream what was not yet sent.
    ScoreColumns scores;     // The same.
    std::size_t scored = 0;  // Tokens of the prompt.
    std::string_view finish = {};
  };
  void take(const Piece& piece);
  void score_prompt(Choice& choice, std::span<const ScoredChoice> scores);
  std::size_t first_characters(const Prompt& prompt) const;
  Json take_choice(std::size_t index);

  Service& service_;
  const CompletionCall& call_;
  ChoicesReply reply_;
  std::vector<Choice> choices_;
};

CompletionReply::CompletionReply(Service& service, Reply& reply, const CompletionCall& call)
    : service_(service), call_(call), reply_(service, reply, call.stream, "cmpl-", "text_completion") {
  for (std::size_t i = 0; i < call.prompts.size() * call.n; ++i) {
    Choice& choice = choices_.emplace_back(Choice{.scores = ScoreColumns(service.engine)});
    choice.prompt = &call.prompts[i / call.n];
    if (call.echo) choice.text = choice.prompt->text;
    if (call.echo && call.logprobs) score_prompt(choice, std::vector<ScoredChoice>(1));
  }
}

GenerateSink CompletionReply::sink() {
  GenerateSink sink;
  sink.piece = [this](const Piece& piece) { take(piece); };
  sink.finish = [this](int index, const Event& event) {
    const auto i = static_cast<std::size_t>(index);
    reply_.add(event.usage, i % call_.n == 0);
    choices_[i].finish = finish_name(event);
    if (call_.stream.on && event.finish != FinishReason::kCancel) reply_.chunk(take_choice(i));
  };
  if (!call_.stream.on) return sink;
  sink.keep_alive = [this] { reply_.keep_alive(); };
  if (!call_.stream.progress) return sink;
  sink.prefill = [this](int done, int total) {
    reply_.progress(done, total, {{"text", ""}, {"index", 0}, {"logprobs", nullptr}, {"finish_reason", nullptr}});
  };
  return sink;
}

// The first token of a prompt may be none of its text (BOS), or have a space that the text has not.
std::size_t CompletionReply::first_characters(const Prompt& prompt) const {
  std::string bytes = service_.engine.token_bytes(prompt.tokens.front());
  if (prompt.text.starts_with(bytes)) return count_characters(bytes);
  if (bytes.starts_with(' ') && prompt.text.starts_with(bytes.substr(1))) return count_characters(bytes) - 1;
  return 0;
}

// The first token has a place in the list and no score.
void CompletionReply::score_prompt(Choice& choice, std::span<const ScoredChoice> scores) {
  const std::vector<Token>& tokens = choice.prompt->tokens;
  for (const ScoredChoice& score : scores) {
    const std::size_t at = choice.scored++;
    if (at >= tokens.size()) return;
    const std::size_t characters =
        at == 0 ? first_characters(*choice.prompt) : count_characters(service_.engine.token_bytes(tokens[at]));
    choice.scores.add({tokens[at], score.logprob}, at > 0, score.alternatives, characters);
  }
}

void CompletionReply::take(const Piece& piece) {
  const auto index = static_cast<std::size_t>(piece.choice);
  Choice& choice = choices_[index];
  choice.text += piece.text;
  if (piece.event != nullptr && call_.logprobs) {
    const Event& event = *piece.event;
    if (call_.echo) score_prompt(choice, event.prompt_scores);
    if (event.kind == Event::Kind::kToken)
      choice.scores.add({event.token, event.logprob}, true, event.alternatives,
                        count_characters(service_.engine.detokenize({event.token}, false)));
  }
  if (call_.stream.on && !piece.text.empty()) reply_.chunk(take_choice(index));
}

Json CompletionReply::take_choice(std::size_t index) {
  Choice& choice = choices_[index];
  return {{"text", std::exchange(choice.text, {})},
          {"index", index},
          {"logprobs", call_.logprobs ? choice.scores.take() : Json(nullptr)},
          {"finish_reason", choice.finish.empty() ? Json(nullptr) : Json(choice.finish)}};
}

void completions(Service& service, const HttpRequest& http, Reply& reply) {
  Fields fields(http.body);
  CompletionCall call = read_completion(fields, service.engine.info());
  if (fields.error()) return send_error(reply, Dialect::kOpenAi, *fields.error());
  if (auto prepared = prepare(service.engine, call); !prepared)
    return send_error(reply, Dialect::kOpenAi, http_error(prepared.error(), "prompt"));
  AnswerHold hold(service.answers);
  if (const auto error =
          hold.take(call.requests, service.engine.info().context,
                    {.whole = !call.stream.on, .score_bytes = kColumnScoreBytes}, "logprobs", "max_tokens"))
    return send_error(reply, Dialect::kOpenAi, *error);
  CompletionReply answer(service, reply, call);
  answer.end(generate(service, reply, std::move(call.requests), {}, answer.sink()));
}

}  // namespace

void add_openai_completion_routes(Router& router, Service& service) {
  for (const char* path : {"/v1/completions", "/completions"})
    router.add("POST", path,
               [&service](const HttpRequest& request, Reply& reply) { completions(service, request, reply); });
}

}  // namespace plait
