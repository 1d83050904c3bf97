// POST /v1/chat/completions.
#include <fmt/format.h>

#include "server/chat_messages.h"
#include "server/generate.h"
#include "server/openai_reply.h"
#include "server/sampling_fields.h"
#include "server/token_scores.h"

namespace plait {
namespace {

struct ChatCall {
  Request request;
  GenerateOptions options;
  StreamFields stream;
  int n = 1;
};

void read_template(Fields& fields, const ModelInfo& model, Request& request) {
  request.messages = chat_messages(fields);
  Json variables = Json::object();
  read_effort(fields, "reasoning_effort", model, variables);
  if (const Json* more = template_kwargs(fields)) variables.update(*more);
  if (!variables.empty()) request.template_variables = json_text(variables);
  const auto add_prompt = fields.boolean("add_generation_prompt");
  request.continue_final_message = fields.boolean("continue_final_message").value_or(false);
  request.add_generation_prompt = add_prompt.value_or(!request.continue_final_message);
  if (request.add_generation_prompt && request.continue_final_message)
    fields.fault("continue_final_message", "continue_final_message and add_generation_prompt cannot both be true");
}

void read_logprobs(Fields& fields, Request& request) {
  const bool on = fields.boolean("logprobs").value_or(false);
  const auto best = fields.integer("top_logprobs", 0, 20);
  if (best.value_or(0) > 0 && !on) fields.fault("top_logprobs", "top_logprobs is given, and logprobs is not true");
  if (on) request.logprobs = static_cast<int>(best.value_or(0));
}

ChatCall read_chat(Fields& fields, const ModelInfo& model) {
  ChatCall call;
  read_template(fields, model, call.request);
  read_sampling(fields, model, call.request);
  read_stop(fields, "stop", call.request);
  read_max_tokens(fields, {"max_completion_tokens", "max_tokens"}, call.request);
  read_logprobs(fields, call.request);
  call.stream = read_stream(fields);
  call.n = static_cast<int>(fields.integer("n", 1, kMostChoices).value_or(1));
  const std::string format = fields.string("reasoning_format").value_or("auto");
  if (format != "none" && format != "auto" && format != "deepseek")
    fields.fault("reasoning_format", fmt::format("reasoning_format is \"{}\", wanted none, auto or deepseek", format));
  call.options.split_reasoning = format != "none";
  refuse_openai(fields);
  refuse_formats(fields, "response_format");
  refuse_unless(fields, "tool_choice", "none");
  refuse_unless(fields, "function_call", "none");
  fields.refuse({"store", "metadata", "best_of", "suffix", "echo"});
  return call;
}

// Both kinds of reply are made from the same pieces.
class ChatReply {
 public:
  ChatReply(Service& service, Reply& reply, const ChatCall& call)
      : service_(service),
        call_(call),
        reply_(service, reply, call.stream, "chatcmpl-", call.stream.on ? "chat.completion.chunk" : "chat.completion"),
        choices_(static_cast<std::size_t>(call.n)) {}

  GenerateSink sink();
  void end(const Result<void>& ran) {
    reply_.end(ran, choices_.size(), [this](std::size_t index, LongReply& out) { add_whole(index, out); });
  }

 private:
  struct Scored {
    Token token = 0;
    ScoredChoice choice;
  };
  struct Choice {
    std::string text, reasoning;
    std::vector<Scored> scores;  // Not yet sent.
    bool answers = false;        // Some text of the answer proper was seen.
    int thought_tokens = 0;
    std::string_view finish;
  };
  void take(const Piece& piece);
  void begin();
  void progress(int done, int total);
  void send_delta(int index, Json delta, std::string_view finish);
  void add_whole(std::size_t index, LongReply& out);
  Json whole(std::size_t index) const;
  Json score(const Scored& scored) const { return chat_score(service_.engine, scored.token, scored.choice); }
  Json take_scores(Choice& choice);

  Service& service_;
  const ChatCall& call_;
  ChoicesReply reply_;
  std::vector<Choice> choices_;
};

GenerateSink ChatReply::sink() {
  GenerateSink sink;
  sink.piece = [this](const Piece& piece) { take(piece); };
  sink.finish = [this](int index, const Event& event) {
    Choice& choice = choices_[static_cast<std::size_t>(index)];
    reply_.add(event.usage, index == 0, choice.thought_tokens);
    choice.finish = finish_name(event);
    if (call_.stream.on && event.finish != FinishReason::kCancel) send_delta(index, Json::object(), choice.finish);
  };
  if (!call_.stream.on) return sink;
  sink.prefill = [this](int done, int total) { progress(done, total); };
  sink.keep_alive = [this] {
    begin();
    reply_.keep_alive();
  };
  return sink;
}

void ChatReply::take(const Piece& piece) {
  Choice& choice = choices_[static_cast<std::size_t>(piece.choice)];
  const bool is_token = piece.event != nullptr && piece.event->kind == Event::Kind::kToken;
  if (is_token && call_.request.logprobs)
    choice.scores.push_back({piece.event->token, {piece.event->logprob, piece.event->alternatives}});
  choice.answers = choice.answers || !piece.text.empty();
  if (call_.options.split_reasoning && is_token && !choice.answers) ++choice.thought_tokens;
  choice.reasoning += piece.reasoning;
  choice.text += piece.text;
  if (!call_.stream.on || (piece.text.empty() && piece.reasoning.empty())) return;
  Json delta = Json::object();
  if (!piece.reasoning.empty()) delta["reasoning_content"] = piece.reasoning;
  if (!piece.text.empty()) delta["content"] = piece.text;
  send_delta(piece.choice, std::move(delta), {});
}

// The roles, before all else.
void ChatReply::begin() {
  if (reply_.begun()) return;
  for (int i = 0; i < call_.n; ++i) {
    Json choice = {{"index", i}, {"delta", {{"role", "assistant"}, {"content", ""}}}, {"logprobs", nullptr}};
    choice["finish_reason"] = nullptr;
    reply_.chunk(std::move(choice));
  }
}

void ChatReply::progress(int done, int total) {
  begin();
  if (!call_.stream.progress) return;
  reply_.progress(done, total,
                  {{"index", 0}, {"delta", Json::object()}, {"logprobs", nullptr}, {"finish_reason", nullptr}});
}

Json ChatReply::take_scores(Choice& choice) {
  if (!call_.request.logprobs) return nullptr;
  Json content = Json::array();
  for (const Scored& scored : std::exchange(choice.scores, {})) content.push_back(score(scored));
  return {{"content", std::move(content)}, {"refusal", nullptr}};
}

void ChatReply::send_delta(int index, Json delta, std::string_view finish) {
  begin();
  Json choice = {{"index", index}, {"delta", std::move(delta)}};
  choice["logprobs"] = take_scores(choices_[static_cast<std::size_t>(index)]);
  choice["finish_reason"] = finish.empty() ? Json(nullptr) : Json(finish);
  reply_.chunk(std::move(choice));
}

Json ChatReply::whole(std::size_t index) const {
  const Choice& choice = choices_[index];
  Json message = {{"role", "assistant"}, {"content", choice.text}, {"refusal", nullptr}};
  if (!choice.reasoning.empty()) message["reasoning_content"] = choice.reasoning;
  return {{"index", index}, {"message", std::move(message)}};
}

void ChatReply::add_whole(std::size_t index, LongReply& out) {
  const Choice& choice = choices_[index];
  const bool scored = call_.request.logprobs.has_value();
  const std::string finish = "\"finish_reason\":" + json_text(choice.finish);
  const std::string close = (scored ? "],\"refusal\":null}," : ",") + finish;
  out.add_object(
      whole(index), scored ? "\"logprobs\":{\"content\":[" : "\"logprobs\":null", choice.scores.size(),
      [&](std::size_t i) { return score(choice.scores[i]); }, close);
}

void chat_completions(Service& service, const HttpRequest& http, Reply& reply) {
  Fields fields(http.body);
  ChatCall call = read_chat(fields, service.engine.info());
  if (fields.error()) return send_error(reply, Dialect::kOpenAi, *fields.error());
  Result<Prompt> prompt = service.engine.prepare(call.request);
  if (!prompt) return send_error(reply, Dialect::kOpenAi, http_error(prompt.error(), "messages"));
  call.options.starts_in_reasoning = ends_in_reasoning(prompt->text);
  call.request.messages.reset();
  call.request.tokens = std::move(prompt->tokens);
  std::vector<Request> requests(static_cast<std::size_t>(call.n), call.request);
  for (std::size_t i = 0; i < requests.size(); ++i) requests[i].sampling.seed += i;
  AnswerHold hold(service.answers);
  if (const auto error = hold.take(requests, service.engine.info().context, {.whole = !call.stream.on}, "top_logprobs",
                                   "max_completion_tokens"))
    return send_error(reply, Dialect::kOpenAi, *error);
  ChatReply answer(service, reply, call);
  answer.end(generate(service, reply, std::move(requests), call.options, answer.sink()));
}

}  // namespace

void add_chat_routes(Router& router, Service& service) {
  for (const char* path : {"/v1/chat/completions", "/chat/completions"})
    router.add("POST", path,
               [&service](const HttpRequest& request, Reply& reply) { chat_completions(service, request, reply); });
}

}  // namespace plait
