// Anthropic's dialect: /v1/messages whole and as a stream, count_tokens, what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "server/served.h"

namespace plait::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kTemplate =
    "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% if m.reasoning_content %}({{ m.reasoning_content }})"
    "{% endif %}{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}"
    "{% if enable_thinking is defined and enable_thinking %}<think>{% endif %}";

Talk talker() { return {.pieces = {"Yes", ", of", " course", ".\n", "Ask."}, .chat_template = kTemplate}; }
Talk thinker() {
  return {.pieces = {"<think>", "\nHm", "m.", "\n</think>", "\n\n", "Yes", ".."}, .chat_template = kTemplate};
}

Json message(const char* role, Json content) { return {{"role", role}, {"content", std::move(content)}}; }

class Anthropic : public testing::Test {
 protected:
  static Json body(Json more = Json::object()) {
    Json json = {{"model", "any"},
                 {"max_tokens", 100},
                 {"temperature", 0},
                 {"messages", Json::array({message("user", "Well?")})}};
    json.update(more);
    return json;
  }
  Json ask(Json more = Json::object(), int status = 200) { return served.post("/v1/messages", body(more), status); }
  // Each byte of a prompt without spaces is a token.
  int count(Json more) { return served.post("/v1/messages/count_tokens", body(more))["input_tokens"]; }
  Served served{talker(), add_anthropic_routes};
};

TEST_F(Anthropic, Answers) {
  FakeReply reply;
  served.ask(reply, "POST", "/v1/messages", body().dump());
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.content_type, "application/json");
  EXPECT_THAT(reply.headers["request-id"], HasSubstr("req_"));
  const Json answer = Json::parse(reply.body);
  EXPECT_THAT(answer["id"].get<std::string>(), HasSubstr("msg_"));
  EXPECT_EQ(answer["type"], "message");
  EXPECT_EQ(answer["role"], "assistant");
  EXPECT_EQ(answer["model"], "talker");
  EXPECT_EQ(answer["content"], Json::array({{{"type", "text"}, {"text", "Yes, of course.\nAsk."}}}));
  EXPECT_EQ(answer["stop_reason"], "end_turn");
  EXPECT_TRUE(answer["stop_sequence"].is_null());
  EXPECT_EQ(answer["usage"], Json({{"input_tokens", 22},
                                   {"cache_creation_input_tokens", 0},
                                   {"cache_read_input_tokens", 0},
                                   {"output_tokens", 5}}));
}

TEST_F(Anthropic, SaysWhyAnAnswerEnded) {
  const Json most = ask({{"max_tokens", 2}});
  EXPECT_EQ(most["content"][0]["text"], "Yes, of");
  EXPECT_EQ(most["stop_reason"], "max_tokens");
  EXPECT_TRUE(most["stop_sequence"].is_null());
  const Json stop = ask({{"stop_sequences", {"Ask", "course."}}});
  EXPECT_EQ(stop["content"][0]["text"], "Yes, of ");
  EXPECT_EQ(stop["stop_reason"], "stop_sequence");
  EXPECT_EQ(stop["stop_sequence"], "course.");
  const Json full = ask({{"max_tokens", 1000}, {"ignore_eos", true}, {"logit_bias", {{"258", 100}}}});
  EXPECT_EQ(full["stop_reason"], "model_context_window_exceeded");
  const Json at_once = ask({{"stop_sequences", {"Yes"}}});
  EXPECT_EQ(at_once["content"], Json::array({{{"type", "text"}, {"text", ""}}}));
}

TEST_F(Anthropic, MakesAPromptOfBlocksAndSystem) {
  const Json text = {{"type", "text"}, {"text", "ab"}, {"cache_control", {{"type", "ephemeral"}}}};
  const int plain = count(Json::object());
  EXPECT_EQ(plain, 22);  // [user]Well?[assistant]
  EXPECT_EQ(count({{"system", "Be"}}), plain + 10);
  EXPECT_EQ(count({{"system", Json::array({text, text})}}), plain + 8 + 5);
  EXPECT_EQ(count({{"messages", {message("user", Json::array({text}))}}}), plain - 3);
  EXPECT_EQ(count({{"messages", {message("user", "Well?"), message("system", "Be")}}}), plain + 10);
  // Turns of the same role are one.
  EXPECT_EQ(count({{"messages", {message("user", "Well?"), message("user", "So?")}}}), plain + 4);
  // An assistant's turn at the end is the beginning of the answer.
  EXPECT_EQ(count({{"messages", {message("user", "Well?"), message("assistant", "Yes")}}}), plain + 3);
  const Json thought = {{"type", "thinking"}, {"thinking", "hm"}, {"signature", "x"}};
  EXPECT_EQ(
      count({{"messages",
              {message("user", "Well?"), message("assistant", Json::array({thought, text})), message("user", "a")}}}),
      plain + 11 + 2 + 4 + 6 + 1);
  EXPECT_EQ(count({{"thinking", {{"type", "enabled"}}}}), plain + 7);
  EXPECT_EQ(count({{"thinking", {{"type", "adaptive"}}}}), plain + 7);
  EXPECT_EQ(count({{"thinking", {{"type", "disabled"}}}}), plain);
}

TEST_F(Anthropic, TakesWhatMakesNoDifference) {
  const Json answer = ask({{"metadata", {{"user_id", "u"}}},
                           {"service_tier", "auto"},
                           {"cache_control", {{"type", "ephemeral"}}},
                           {"tools", Json::array()},
                           {"tool_choice", {{"type", "none"}}},
                           {"top_k", 5},
                           {"top_p", 0.5},
                           {"stream", false},
                           {"something_else", 1}});
  EXPECT_EQ(answer["stop_reason"], "end_turn");
}

// The events' types, and what their deltas join to.
struct Streamed {
  std::vector<std::string> types;
  std::string text, thinking;
  Json start, delta;
};

Streamed streamed(const std::string& body) {
  Streamed all;
  int open = -1, blocks = 0;
  for (const auto& [name, data] : events_of(body)) {
    const Json json = Json::parse(data);
    EXPECT_EQ(json["type"], name);
    if (all.types.empty() || all.types.back() != name) all.types.push_back(name);
    if (name == "message_start") all.start = json["message"];
    if (name == "message_delta") all.delta = json;
    if (name == "content_block_start") {
      EXPECT_EQ(open, -1) << "blocks follow each other";
      EXPECT_EQ(json["index"], blocks);
      open = blocks++;
    }
    if (name == "content_block_delta") {
      EXPECT_EQ(json["index"], open);
      all.text += json["delta"].value("text", "");
      all.thinking += json["delta"].value("thinking", "");
    }
    if (name == "content_block_stop") {
      EXPECT_EQ(json["index"], open);
      open = -1;
    }
  }
  EXPECT_EQ(open, -1);
  return all;
}

TEST_F(Anthropic, StreamsWhatItWouldSayAtOnce) {
  for (const Json& more : {Json::object(), Json({{"max_tokens", 2}}), Json({{"stop_sequences", {"Yes"}}}),
                           Json({{"stop_sequences", {"Ask", "course."}}})}) {
    const Json whole = ask(more);
    Json asked = body(more);
    asked["stream"] = true;
    FakeReply reply;
    served.ask(reply, "POST", "/v1/messages", asked.dump());
    EXPECT_EQ(reply.content_type, "text/event-stream");
    const Streamed stream = streamed(reply.body);
    const bool silent = whole["content"][0]["text"] == "";
    std::vector<std::string> types{"message_start",      "ping",          "content_block_start", "content_block_delta",
                                   "content_block_stop", "message_delta", "message_stop"};
    if (silent) types.erase(types.begin() + 3);
    EXPECT_EQ(stream.types, types);
    EXPECT_EQ(Json(stream.text), whole["content"][0]["text"]);
    EXPECT_EQ(stream.delta["delta"]["stop_reason"], whole["stop_reason"]);
    EXPECT_EQ(stream.delta["delta"]["stop_sequence"], whole["stop_sequence"]);
    EXPECT_EQ(stream.delta["usage"], whole["usage"]);
    EXPECT_EQ(stream.start["usage"]["input_tokens"], whole["usage"]["input_tokens"]);
    EXPECT_EQ(stream.start["content"], Json::array());
    EXPECT_TRUE(stream.start["stop_reason"].is_null());
  }
}

TEST(AnthropicThinking, IsABlockOfItsOwn) {
  Served served(thinker(), add_anthropic_routes);
  Json body = {{"max_tokens", 100}, {"temperature", 0}, {"messages", Json::array({message("user", "Well?")})}};
  const Json whole = served.post("/v1/messages", body);
  EXPECT_EQ(whole["content"], Json::array({{{"type", "thinking"}, {"thinking", "Hmm."}, {"signature", ""}},
                                           {{"type", "text"}, {"text", "Yes.."}}}));
  body["stream"] = true;
  const Streamed stream = streamed(served.text("POST", "/v1/messages", body.dump()));
  EXPECT_EQ(stream.thinking, "Hmm.");
  EXPECT_EQ(stream.text, "Yes..");
  EXPECT_THAT(stream.types, ElementsAre("message_start", "ping", "content_block_start", "content_block_delta",
                                        "content_block_stop", "content_block_start", "content_block_delta",
                                        "content_block_stop", "message_delta", "message_stop"));
}

TEST(AnthropicThinking, BeginsInThePrompt) {
  Served served({.pieces = {"Hm.", "</think>", "Yes"}, .chat_template = kTemplate}, add_anthropic_routes);
  const Json body = {{"max_tokens", 100},
                     {"temperature", 0},
                     {"thinking", {{"type", "enabled"}}},
                     {"messages", Json::array({message("user", "Well?")})}};
  const Json answer = served.post("/v1/messages", body);
  EXPECT_EQ(answer["content"][0]["thinking"], "Hm.");
  EXPECT_EQ(answer["content"][1]["text"], "Yes");
}

TEST_F(Anthropic, PingsWhileNothingIsSaid) {
  served.service.keep_alive_ms = 0;
  // Two hundred tokens without a letter.
  const Json asked =
      body({{"stream", true}, {"max_tokens", 200}, {"ignore_eos", true}, {"logit_bias", {{"258", 100}}}});
  const std::string text = served.text("POST", "/v1/messages", asked.dump());
  EXPECT_EQ(streamed(text).delta["usage"]["output_tokens"], 200);
  const auto events = events_of(text);
  EXPECT_EQ(events.front().first, "message_start");
  EXPECT_GT(std::count_if(events.begin(), events.end(), [](const auto& event) { return event.first == "ping"; }), 1);
}

TEST_F(Anthropic, RefusesByName) {
  const auto user = [](Json content) { return Json::array({message("user", std::move(content))}); };
  const std::pair<Json, const char*> cases[] = {
      {{{"max_tokens", nullptr}}, "max_tokens is missing"},
      {{{"max_tokens", 0}}, "max_tokens is 0, wanted an integer from 1"},
      {{{"messages", nullptr}}, "messages is missing"},
      {{{"messages", "hi"}}, "messages is a string, wanted an array"},
      {{{"messages", Json::array()}}, "messages is empty"},
      {{{"messages", {5}}}, "messages[0].role is missing"},
      {{{"messages", {message("tool", "a")}}}, "messages[0].role is \"tool\", wanted \"user\", \"assistant\" or"},
      {{{"diagnostics", {{"a", 1}}}}, "diagnostics"},
      {{{"inference_geo", "us"}}, "inference_geo"},
      {{{"speed", "fast"}}, "speed is not supported, only \"standard\" is accepted"},
      {{{"messages", {{{"role", "user"}}}}}, "messages[0].content is missing"},
      {{{"messages", user(5)}}, "messages[0].content is neither a string nor an array"},
      {{{"messages", user({{{"type", "image"}, {"source", "x"}}})}}, "messages[0].content[0].type is \"image\""},
      {{{"messages", user({{{"type", "tool_result"}}})}}, "\"tool_result\""},
      {{{"messages", user({{{"type", "document"}}})}}, "\"document\""},
      {{{"messages", user({{{"type", "text"}, {"text", 5}}})}}, "messages[0].content[0].text"},
      {{{"messages", {message("assistant", {{{"type", "thinking"}}})}}}, "messages[0].content[0].thinking"},
      {{{"messages", {message("assistant", {{{"type", "redacted_thinking"}}})}}}, "redacted_thinking"},
      {{{"messages", {message("assistant", {{{"type", "tool_use"}}})}}}, "tool_use"},
      {{{"system", 5}}, "system is neither a string nor an array"},
      {{{"system", {{{"type", "image"}}}}}, "system[0].type is \"image\""},
      {{{"tools", {{{"name", "t"}}}}}, "the request has tools"},
      {{{"tool_choice", {{"type", "any"}}}}, "the request has tool_choice"},
      {{{"mcp_servers", {1}}}, "mcp_servers"},
      {{{"container", "c"}}, "container"},
      {{{"context_management", {{"edits", 1}}}}, "context_management"},
      {{{"output_config", {{"effort", "low"}}}}, "output_config"},
      {{{"output_format", {{"type", "json_schema"}}}}, "output_format"},
      {{{"thinking", true}}, "thinking is a boolean, wanted an object"},
      {{{"thinking", {{"type", "hard"}}}}, "thinking.type is not"},
      {{{"thinking", {{"type", "enabled"}, {"budget_tokens", 1024}}}}, "thinking.budget_tokens"},
      {{{"thinking", {{"type", "adaptive"}, {"display", "omitted"}}}}, "thinking.display"},
      {{{"temperature", -1}}, "temperature is -1"},
      {{{"top_p", 2}}, "top_p is 2"},
      {{{"top_k", "x"}}, "top_k is a string"},
      {{{"stop_sequences", {1}}}, "stop_sequences[0] is a number"},
      {{{"stop_sequences", {""}}}, "stop_sequences has a string of 0 bytes"},
      {{{"stream", 1}}, "stream is a number"},
      {{{"metadata", 1}}, "metadata is a number"},
      {{{"service_tier", "fast"}}, "service_tier"},
      {{{"messages", user(std::string(400, 'a'))}}, "leaves no room for an answer"},
  };
  for (const auto& [more, text] : cases) {
    const Json error = ask(more, 400);
    EXPECT_EQ(error["type"], "error");
    EXPECT_EQ(error["error"]["type"], "invalid_request_error");
    EXPECT_THAT(error["error"]["message"].get<std::string>(), HasSubstr(text)) << more;
  }
  EXPECT_THAT(served.text("POST", "/v1/messages", "[]", 400), HasSubstr("the body is an array, wanted an object"));
  EXPECT_THAT(served.text("POST", "/v1/messages/count_tokens", "{}", 400), HasSubstr("messages is missing"));
}

TEST(AnthropicFailure, IsAnEventOfTheStream) {
  Served served({.pieces = {"aa", "bb"}, .breaks = true}, add_anthropic_routes);
  Json body = {{"max_tokens", 100}, {"temperature", 0}, {"messages", Json::array({message("user", "Well?")})}};
  const Json whole = served.post("/v1/messages", body, 500);
  EXPECT_EQ(whole["type"], "error");
  EXPECT_EQ(whole["error"]["type"], "api_error");
  body["stream"] = true;
  const auto events = events_of(served.text("POST", "/v1/messages", body.dump()));
  EXPECT_EQ(events.front().first, "message_start");
  EXPECT_EQ(events.back().first, "error");
  EXPECT_EQ(Json::parse(events.back().second), whole);
}

TEST_F(Anthropic, RefusesBeforeAStreamBegins) {
  Json asked = body({{"stream", true}, {"messages", {message("user", std::string(400, 'a'))}}});
  FakeReply reply;
  served.ask(reply, "POST", "/v1/messages", asked.dump());
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.content_type, "application/json");
}

TEST_F(Anthropic, EndsWhenTheClientLeaves) {
  for (const bool stream : {true, false}) {
    for (const bool at_once : {true, false}) {
      FakeReply reply;
      if (at_once) reply.leave();
      reply.leave_after = 300;
      served.ask(reply, "POST", "/v1/messages", body({{"stream", stream}}).dump());
      EXPECT_TRUE(reply.begun());
      EXPECT_EQ(served.engine.open_streams(), 0);
    }
  }
}

}  // namespace
}  // namespace plait::test
