// /v1/responses: answers, their events, and those that are kept.
#include "server/responses.h"

#include <fmt/format.h>

#include "server/token_scores.h"

namespace plait {
namespace {

constexpr std::string_view kOneResponse = "/v1/responses/*";
constexpr std::size_t kScoreBytes = 768;  // As JSON: items are kept, and repeated when they are done.

// One item of the output is open at a time: first reasoning, if there is any, then the message.
class ResponseReply {
 public:
  ResponseReply(Service& service, Reply& reply, ResponseAsk& ask)
      : service_(service), reply_(reply), events_(reply), ask_(ask), id_(new_id("resp_")), created_(unix_time()) {}

  GenerateSink sink();
  void end(const Result<void>& ran, ResponseStore& store);

 private:
  struct Item {
    bool reasoning = false;
    std::string id, text;
    Json scores = Json::array();
  };
  Json response(std::string_view status, Json output) const;
  Json part(const Item& item) const;
  Json whole(const Item& item, std::string_view status) const;
  Json place(const Item& item) const;
  void event(std::string_view type, Json members);
  void begin();
  void open(bool reasoning);
  void close(std::string_view status);
  void take(const Piece& piece);
  void add(bool reasoning, const std::string& text, Json scores);
  void finish(const Event& event);
  void keep(ResponseStore& store, const Json& body);

  Service& service_;
  Reply& reply_;
  EventStream events_;
  ResponseAsk& ask_;
  const std::string id_;
  const std::int64_t created_;
  std::optional<Item> item_;
  Json output_ = Json::array();  // Of items that are closed.
  Json scores_ = Json::array();  // Of tokens whose text is still held back.
  std::string answer_, thoughts_;
  int thought_tokens_ = 0;
  bool answers_ = false;
  std::string_view status_ = "in_progress";
  UsageSum usage_;
  int sequence_ = 0;
};

GenerateSink ResponseReply::sink() {
  GenerateSink sink;
  sink.piece = [this](const Piece& piece) { take(piece); };
  sink.finish = [this](int, const Event& event) { finish(event); };
  if (!ask_.stream) return sink;
  sink.prefill = [this](int, int) { begin(); };
  sink.keep_alive = [this] {
    begin();
    events_.keep_alive();
  };
  return sink;
}

Json ResponseReply::response(std::string_view status, Json output) const {
  Json body = {{"id", id_},
               {"object", "response"},
               {"created_at", created_},
               {"completed_at", status == "completed" ? Json(unix_time()) : Json(nullptr)},
               {"status", status},
               {"background", false},
               {"error", nullptr},
               {"incomplete_details", nullptr},
               {"model", service_.model_name},
               {"output", std::move(output)}};
  body.update(ask_.settings);
  if (status == "incomplete") body["incomplete_details"] = {{"reason", "max_output_tokens"}};
  body["usage"] = nullptr;
  if (status == "in_progress" || status == "failed") return body;
  body["usage"] = {{"input_tokens", usage_.prompt_tokens},
                   {"input_tokens_details", {{"cached_tokens", usage_.reused_tokens}, {"cache_write_tokens", 0}}},
                   {"output_tokens", usage_.generated_tokens},
                   {"output_tokens_details", {{"reasoning_tokens", usage_.reasoning_tokens}}},
                   {"total_tokens", usage_.prompt_tokens + usage_.generated_tokens}};
  return body;
}

Json ResponseReply::part(const Item& item) const {
  if (item.reasoning) return {{"type", "reasoning_text"}, {"text", item.text}};
  return {{"type", "output_text"}, {"text", item.text}, {"annotations", Json::array()}, {"logprobs", item.scores}};
}

Json ResponseReply::whole(const Item& item, std::string_view status) const {
  const Json content = status == "in_progress" ? Json::array() : Json::array({part(item)});
  if (item.reasoning)
    return {
        {"id", item.id}, {"type", "reasoning"}, {"summary", Json::array()}, {"content", content}, {"status", status}};
  return {{"id", item.id}, {"type", "message"}, {"role", "assistant"}, {"content", content}, {"status", status}};
}

Json ResponseReply::place(const Item& item) const {
  return {{"item_id", item.id}, {"output_index", output_.size()}, {"content_index", 0}};
}

void ResponseReply::event(std::string_view type, Json members) {
  if (!ask_.stream) return;
  Json json = {{"type", type}, {"sequence_number", sequence_++}};
  json.update(members);
  events_.event(type, json);
}

void ResponseReply::begin() {
  if (!ask_.stream || sequence_ > 0) return;
  for (const std::string_view type : {"response.created", "response.in_progress"})
    event(type, {{"response", response("in_progress", Json::array())}});
}

void ResponseReply::open(bool reasoning) {
  if (item_ && item_->reasoning == reasoning) return;
  close("completed");
  item_ = Item{.reasoning = reasoning, .id = new_id(reasoning ? "rs_" : "msg_"), .text = {}};
  event("response.output_item.added", {{"output_index", output_.size()}, {"item", whole(*item_, "in_progress")}});
  Json members = place(*item_);
  members["part"] = part(*item_);
  event("response.content_part.added", std::move(members));
}

void ResponseReply::close(std::string_view status) {
  if (!item_) return;
  if (ask_.stream) {  // Copies of all that was said.
    Json done = place(*item_);
    done["text"] = item_->text;
    if (!item_->reasoning) done["logprobs"] = item_->scores;
    event(item_->reasoning ? "response.reasoning_text.done" : "response.output_text.done", std::move(done));
    Json members = place(*item_);
    members["part"] = part(*item_);
    event("response.content_part.done", std::move(members));
  }
  Json item = whole(*item_, status);
  if (ask_.stream) event("response.output_item.done", {{"output_index", output_.size()}, {"item", item}});
  output_.push_back(std::move(item));
  item_.reset();
}

void ResponseReply::take(const Piece& piece) {
  const bool is_token = piece.event != nullptr && piece.event->kind == Event::Kind::kToken;
  begin();
  answers_ = answers_ || !piece.text.empty();
  if (is_token && !answers_) ++thought_tokens_;
  if (is_token && ask_.logprobs)
    scores_.push_back(
        chat_score(service_.engine, piece.event->token, {piece.event->logprob, piece.event->alternatives}));
  if (!piece.reasoning.empty()) {
    scores_ = Json::array();  // Of the answer proper only.
    add(true, piece.reasoning, Json::array());
  }
  if (!piece.text.empty()) add(false, piece.text, std::exchange(scores_, Json::array()));
}

void ResponseReply::add(bool reasoning, const std::string& text, Json scores) {
  open(reasoning);
  item_->text += text;
  item_->scores.insert(item_->scores.end(), scores.begin(), scores.end());
  (reasoning ? thoughts_ : answer_) += text;
  Json members = place(*item_);
  members["delta"] = text;
  if (!reasoning) members["logprobs"] = std::move(scores);
  event(reasoning ? "response.reasoning_text.delta" : "response.output_text.delta", std::move(members));
}

void ResponseReply::finish(const Event& event) {
  if (event.finish == FinishReason::kCancel) return;
  begin();
  usage_.add(event.usage, true);
  usage_.reasoning_tokens = thoughts_.empty() ? 0 : thought_tokens_;
  status_ = event.finish == FinishReason::kStop ? "completed" : "incomplete";
  const bool cut_in_thought = status_ == "incomplete" && item_ && item_->reasoning;
  if (!cut_in_thought) open(false);  // There is always a message, though perhaps without a word.
  close(status_);
}

void ResponseReply::keep(ResponseStore& store, const Json& body) {
  if (!ask_.store) return;
  Json message = {{"role", "assistant"}, {"content", answer_}};
  if (!thoughts_.empty()) message["reasoning_content"] = thoughts_;
  ask_.messages.push_back(std::move(message));
  store.put({id_, json_text(body), json_text(ask_.messages)});
}

void ResponseReply::end(const Result<void>& ran, ResponseStore& store) {
  if (ran && !reply_.gone()) {
    const Json body = response(status_, std::move(output_));
    keep(store, body);  // Before the client knows the name.
    if (!ask_.stream) return send_json(reply_, body);
    return event(status_ == "completed" ? "response.completed" : "response.incomplete", {{"response", body}});
  }
  const HttpError error = ran ? HttpError{503, "the server is stopping", {}} : http_error(ran.error());
  if (!reply_.begun()) return send_error(reply_, Dialect::kOpenAi, error);
  close("incomplete");
  Json body = response("failed", output_);
  const std::string_view code = !error.code.empty()  ? error.code
                                : error.status < 500 ? "invalid_prompt"
                                                     : "server_error";
  body["error"] = {{"code", code}, {"message", error.message}};
  event("response.failed", {{"response", body}});
}

void respond(Service& service, ResponseStore& store, const HttpRequest& http, Reply& reply) {
  Fields fields(http.body);
  ResponseAsk ask = read_response(fields, service.engine.info(), store);
  if (fields.error()) return send_error(reply, Dialect::kOpenAi, *fields.error());
  Result<Prompt> prompt = service.engine.prepare(ask.request);
  if (!prompt) return send_error(reply, Dialect::kOpenAi, http_error(prompt.error(), "input"));
  const GenerateOptions options{.split_reasoning = true, .starts_in_reasoning = ends_in_reasoning(prompt->text)};
  ask.request.messages.reset();
  ask.request.tokens = std::move(prompt->tokens);
  AnswerHold hold(service.answers);
  if (const auto error = hold.take({&ask.request, 1}, service.engine.info().context, {.score_bytes = kScoreBytes},
                                   "top_logprobs", "max_output_tokens"))
    return send_error(reply, Dialect::kOpenAi, *error);
  ResponseReply answer(service, reply, ask);
  answer.end(generate(service, reply, {ask.request}, options, answer.sink()), store);
}

void no_response(Reply& reply, const std::string& id) {
  send_error(reply, Dialect::kOpenAi, {404, fmt::format("there is no response \"{}\"", id), "response_id"});
}

// What OpenAI has below a response (its input items) is not kept apart here.
bool is_deeper(const std::string& id) { return id.find('/') != std::string::npos; }

void nothing_there(const HttpRequest& request, Reply& reply) {
  send_error(reply, Dialect::kOpenAi, {404, fmt::format("there is no {}", request.path), {}});
}

void retrieve(ResponseStore& store, const HttpRequest& request, Reply& reply) {
  const std::string id = rest_of_path(request, kOneResponse);
  if (is_deeper(id)) return nothing_there(request, reply);
  if (request.query.find("stream=true") != std::string::npos)
    return send_error(reply, Dialect::kOpenAi, {400, "a kept response is not streamed again", "stream"});
  auto kept = store.find(id);
  if (!kept) return no_response(reply, id);
  reply.send(200, kJsonType, std::move(kept->body));
}

void remove(ResponseStore& store, const HttpRequest& request, Reply& reply) {
  const std::string id = rest_of_path(request, kOneResponse);
  if (is_deeper(id)) return nothing_there(request, reply);
  if (!store.erase(id)) return no_response(reply, id);
  send_json(reply, {{"id", id}, {"object", "response"}, {"deleted", true}});
}

}  // namespace

void add_responses_routes(Router& router, Service& service, ResponseStore& store) {
  router.add("POST", "/v1/responses",
             [&](const HttpRequest& request, Reply& reply) { respond(service, store, request, reply); });
  router.add("GET", std::string(kOneResponse),
             [&](const HttpRequest& request, Reply& reply) { retrieve(store, request, reply); });
  router.add("DELETE", std::string(kOneResponse),
             [&](const HttpRequest& request, Reply& reply) { remove(store, request, reply); });
  router.add("POST", std::string(kOneResponse), nothing_there);  // Such as .../cancel
}

}  // namespace plait
