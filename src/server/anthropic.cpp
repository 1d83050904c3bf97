// Anthropic's dialect: POST /v1/messages and /v1/messages/count_tokens.
#include "server/anthropic_messages.h"
#include "server/events.h"
#include "server/whole.h"

namespace plait {
namespace {

constexpr Dialect kDialect = Dialect::kAnthropic;

Json stop_reason(const Event& end, int max_tokens) {
  if (end.finish == FinishReason::kStop) return end.stop.empty() ? "end_turn" : "stop_sequence";
  return end.usage.generated_tokens < max_tokens ? "model_context_window_exceeded" : "max_tokens";
}

Json stop_sequence(const Event& end) { return end.stop.empty() ? Json(nullptr) : Json(end.stop); }

Json usage_json(int prompt, int reused, int generated) {
  return {{"input_tokens", prompt - reused},
          {"cache_creation_input_tokens", 0},
          {"cache_read_input_tokens", reused},
          {"output_tokens", generated}};
}

Json usage_json(const Usage& usage) {
  return usage_json(usage.prompt_tokens, usage.reused_tokens, usage.generated_tokens);
}

Json thinking_block(const std::string& text) { return {{"type", "thinking"}, {"thinking", text}, {"signature", ""}}; }
Json text_block(const std::string& text) { return {{"type", "text"}, {"text", text}}; }

Json message_json(const Service& service, const std::string& id, Json content) {
  return {{"id", id},
          {"type", "message"},
          {"role", "assistant"},
          {"model", service.model_name},
          {"content", std::move(content)},
          {"stop_reason", nullptr},
          {"stop_sequence", nullptr}};
}

void answer_whole(Service& service, Request request, const GenerateOptions& options, Reply& reply) {
  const int max_tokens = request.max_tokens;
  const auto wholes = collect(service, reply, kDialect, {std::move(request)}, options);
  if (!wholes) return;
  const Whole& whole = wholes->front();
  Json content = Json::array();
  if (!whole.reasoning.empty()) content.push_back(thinking_block(whole.reasoning));
  content.push_back(text_block(whole.text));  // Clients read it without a look, so that there is always one.
  Json message = message_json(service, new_id("msg_"), std::move(content));
  message["stop_reason"] = stop_reason(whole.end, max_tokens);
  message["stop_sequence"] = stop_sequence(whole.end);
  message["usage"] = usage_json(whole.end.usage);
  send_json(reply, message);
}

// The events of one message. Blocks follow each other; the first is opened by what comes first.
class Streamer {
 public:
  Streamer(Service& service, const Request& request, Reply& reply)
      : service_(service),
        prompt_tokens_(static_cast<int>(request.tokens.size())),
        max_tokens_(request.max_tokens),
        events_(reply) {}

  GenerateSink sink() {
    return {.prefill = [this](int, int) { start(); },
            .piece = [this](const Piece& piece) { say(piece); },
            .finish = [this](int, const Event& end) { finish(end); },
            .keep_alive =
                [this] {
                  start();
                  ping();
                }};
  }

  void fail(const HttpError& error) { events_.event("error", Json::parse(error_body(kDialect, error))); }

 private:
  enum class Block { kNone, kThinking, kText };

  void event(Json json) {
    const std::string type = json["type"].get<std::string>();
    events_.event(type, json);
  }
  void ping() { event({{"type", "ping"}}); }

  void start() {
    if (events_.begun()) return;
    Json message = message_json(service_, new_id("msg_"), Json::array());
    message["usage"] = usage_json(prompt_tokens_, 0, 0);
    event({{"type", "message_start"}, {"message", std::move(message)}});
    ping();
  }

  void open(Block block) {
    if (block_ == block) return;
    close();
    block_ = block;
    event({{"type", "content_block_start"},
           {"index", index_},
           {"content_block", block == Block::kText ? text_block("") : thinking_block("")}});
  }

  void close() {
    if (block_ == Block::kNone) return;
    event({{"type", "content_block_stop"}, {"index", index_++}});
    block_ = Block::kNone;
  }

  void delta(Json json) { event({{"type", "content_block_delta"}, {"index", index_}, {"delta", std::move(json)}}); }

  void say(const Piece& piece) {
    start();
    if (!piece.reasoning.empty()) {
      open(Block::kThinking);
      delta({{"type", "thinking_delta"}, {"thinking", piece.reasoning}});
    }
    if (!piece.text.empty()) {
      open(Block::kText);
      delta({{"type", "text_delta"}, {"text", piece.text}});
    }
  }

  void finish(const Event& end) {
    start();
    open(Block::kText);
    close();
    event({{"type", "message_delta"},
           {"delta", {{"stop_reason", stop_reason(end, max_tokens_)}, {"stop_sequence", stop_sequence(end)}}},
           {"usage", usage_json(end.usage)}});
    event({{"type", "message_stop"}});
  }

  Service& service_;
  int prompt_tokens_, max_tokens_;
  EventStream events_;
  Block block_ = Block::kNone;
  int index_ = 0;
};

void answer_stream(Service& service, Request request, const GenerateOptions& options, Reply& reply) {
  Streamer streamer(service, request, reply);
  const Result<void> done = generate(service, reply, {std::move(request)}, options, streamer.sink());
  if (!done && reply.begun()) return streamer.fail(http_error(done.error()));
  if (!done) return send_error(reply, kDialect, http_error(done.error()));
  if (!reply.begun()) send_error(reply, kDialect, {499, "the client has left", {}});
}

void messages(Service& service, const HttpRequest& http, Reply& reply) {
  reply.set_header("request-id", new_id("req_"));
  Fields fields(http.body);
  MessagesAsk ask = read_messages(fields, service.engine.info(), false);
  if (fields.error()) return send_error(reply, kDialect, *fields.error());
  const Result<std::string> prompt = settle_prompt(service.engine, ask.request);
  if (!prompt) return send_error(reply, kDialect, http_error(prompt.error(), "messages"));
  const GenerateOptions options{.split_reasoning = true, .starts_in_reasoning = ends_in_reasoning(*prompt)};
  if (ask.stream) return answer_stream(service, std::move(ask.request), options, reply);
  answer_whole(service, std::move(ask.request), options, reply);
}

void count_tokens(const Service& service, const HttpRequest& http, Reply& reply) {
  reply.set_header("request-id", new_id("req_"));
  Fields fields(http.body);
  MessagesAsk ask = read_messages(fields, service.engine.info(), true);
  if (fields.error()) return send_error(reply, kDialect, *fields.error());
  const Result<std::string> prompt = settle_prompt(service.engine, ask.request);
  if (!prompt) return send_error(reply, kDialect, http_error(prompt.error(), "messages"));
  send_json(reply, {{"input_tokens", ask.request.tokens.size()}});
}

}  // namespace

void add_anthropic_routes(Router& router, Service& service) {
  router.add("POST", "/v1/messages",
             [&](const HttpRequest& request, Reply& reply) { messages(service, request, reply); });
  router.add("POST", "/v1/messages/count_tokens",
             [&](const HttpRequest& request, Reply& reply) { count_tokens(service, request, reply); });
}

}  // namespace plait
