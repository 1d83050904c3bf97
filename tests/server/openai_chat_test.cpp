// /v1/chat/completions: each field, streams beside whole answers, clients that leave, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "server/served.h"

namespace plait::test {
namespace {

using testing::HasSubstr;

constexpr const char* kPath = "/v1/chat/completions";
constexpr const char* kTemplate =
    "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}{% if open %}<think>{% endif %}";

Talk talker() { return {.pieces = {"Yes", ", of", " course."}, .chat_template = kTemplate}; }
Talk endless() { return {.pieces = {"Yes", ", of"}, .ends = false, .chat_template = kTemplate}; }

Json body(const Json& more = Json::object()) {
  Json json = {{"messages", {{{"role", "user"}, {"content", "Well?"}}}}, {"temperature", 0}};
  json.update(more);
  return json;
}

std::vector<Json> chunks_of(const std::string& text) {
  std::vector<Json> chunks;
  for (const auto& [name, data] : events_of(text)) {
    EXPECT_EQ(name, "");
    if (data != "[DONE]") chunks.push_back(Json::parse(data));
  }
  return chunks;
}

// What a client makes of the chunks of one choice.
struct Joined {
  std::string text, reasoning;
  Json scores = Json::array();
  Json finish;
};
Joined joined(const std::vector<Json>& chunks, int index = 0) {
  Joined all;
  for (const Json& chunk : chunks) {
    for (const Json& choice : chunk["choices"]) {
      if (choice["index"] != index) continue;
      EXPECT_TRUE(all.finish.is_null()) << "nothing comes after the end";
      all.text += choice["delta"].value("content", "");
      all.reasoning += choice["delta"].value("reasoning_content", "");
      if (!choice["logprobs"].is_null())
        for (const Json& score : choice["logprobs"]["content"]) all.scores.push_back(score);
      all.finish = choice["finish_reason"];
    }
  }
  return all;
}

class OpenAiChat : public testing::Test {
 protected:
  Json ask(const Json& more = Json::object()) { return served.post(kPath, body(more)); }
  Json choice(const Json& more) { return ask(more)["choices"][0]; }
  std::vector<Json> stream(Json more = Json::object()) {
    more["stream"] = true;
    return chunks_of(served.text("POST", kPath, body(more).dump()));
  }
  std::string refused(const Json& more) { return served.post(kPath, body(more), 400)["error"]["param"]; }

  Served served{talker(), add_openai_routes};
};

TEST_F(OpenAiChat, HasTheShapeOfOpenAi) {
  const Json answer = ask();
  EXPECT_THAT(answer["id"].get<std::string>(), testing::StartsWith("chatcmpl-"));
  EXPECT_EQ(answer["object"], "chat.completion");
  EXPECT_GT(answer["created"], 1'700'000'000);
  EXPECT_EQ(answer["model"], "talker");
  EXPECT_THAT(answer["system_fingerprint"].get<std::string>(), testing::StartsWith("fp_"));
  const Json message = {{"role", "assistant"}, {"content", "Yes, of course."}, {"refusal", nullptr}};
  EXPECT_EQ(answer["choices"],
            Json::array({{{"index", 0}, {"message", message}, {"logprobs", nullptr}, {"finish_reason", "stop"}}}));
  EXPECT_EQ(answer["usage"]["prompt_tokens"], 22);
  EXPECT_EQ(answer["usage"]["completion_tokens"], 3);
  EXPECT_EQ(answer["usage"]["total_tokens"], 25);
  EXPECT_EQ(answer["usage"]["prompt_tokens_details"]["cached_tokens"], 0);
}

TEST_F(OpenAiChat, StreamsRolesFirstAndTheSameAnswer) {
  const auto chunks = stream({{"stream_options", {{"include_usage", true}}}});
  EXPECT_EQ(chunks.front()["choices"][0]["delta"], Json({{"role", "assistant"}, {"content", ""}}));
  for (const Json& chunk : chunks) {
    EXPECT_EQ(chunk["object"], "chat.completion.chunk");
    EXPECT_EQ(chunk["id"], chunks.front()["id"]);
    EXPECT_TRUE(chunk.contains("usage"));
    EXPECT_EQ(chunk["usage"].is_null(), !chunk["choices"].empty());
  }
  EXPECT_EQ(chunks.back()["usage"], ask()["usage"]);
  const Joined all = joined(chunks);
  EXPECT_EQ(all.text, "Yes, of course.");
  EXPECT_EQ(all.finish, "stop");
  for (const Json& chunk : stream()) EXPECT_FALSE(chunk.contains("usage"));
}

TEST_F(OpenAiChat, StopsWithinTokens) {
  for (const Json& stop : {Json("f c"), Json::array({"nothing", "f c", "urs"})}) {
    EXPECT_EQ(choice({{"stop", stop}})["message"]["content"], "Yes, o");
    const Joined all = joined(stream({{"stop", stop}}));
    EXPECT_EQ(all.text, "Yes, o");
    EXPECT_EQ(all.finish, "stop");
  }
}

TEST_F(OpenAiChat, EndsAtTheNewerOfTwoBounds) {
  const Json cut = choice({{"max_tokens", 3}, {"max_completion_tokens", 2}});
  EXPECT_EQ(cut["message"]["content"], "Yes, of");
  EXPECT_EQ(cut["finish_reason"], "length");
  EXPECT_EQ(joined(stream({{"max_tokens", 1}})).finish, "length");
}

TEST_F(OpenAiChat, ScoresTokensWholeAsOnAStream) {
  const Json wish = {{"logprobs", true}, {"top_logprobs", 2}};
  const Json scores = choice(wish)["logprobs"]["content"];
  ASSERT_EQ(scores.size(), 3u);
  EXPECT_EQ(scores[0]["token"], "Yes");
  EXPECT_EQ(scores[0]["bytes"], Json({89, 101, 115}));
  double mass = 0;
  for (const Json& other : scores[0]["top_logprobs"]) mass += std::exp(other["logprob"].get<double>());
  EXPECT_EQ(scores[0]["top_logprobs"].size(), 2u);
  EXPECT_EQ(scores[0]["top_logprobs"][0]["token"], "Yes");
  EXPECT_EQ(scores[0]["top_logprobs"][0]["logprob"], scores[0]["logprob"]);
  EXPECT_GT(mass, 0.9);
  EXPECT_LE(mass, 1.0001);
  EXPECT_EQ(joined(stream(wish)).scores, scores);
  EXPECT_EQ(choice({{"logprobs", true}})["logprobs"]["content"][0]["top_logprobs"], Json::array());
}

TEST_F(OpenAiChat, GivesTheBytesOfTokensThatArePartsOfACharacter) {
  Served euro({.pieces = {"\xe2\x82", "\xac."}, .chat_template = kTemplate}, add_openai_routes);
  const Json wish = body({{"logprobs", true}});
  const Json whole = euro.post(kPath, wish)["choices"][0];
  EXPECT_EQ(whole["message"]["content"], "\u20ac.");
  EXPECT_EQ(whole["logprobs"]["content"][0]["token"], "\ufffd");
  EXPECT_EQ(whole["logprobs"]["content"][0]["bytes"], Json({0xe2, 0x82}));
  const auto chunks = chunks_of(euro.text("POST", kPath, body({{"logprobs", true}, {"stream", true}}).dump()));
  EXPECT_EQ(joined(chunks).text, "\u20ac.");
  EXPECT_EQ(joined(chunks).scores, whole["logprobs"]["content"]);
}

TEST_F(OpenAiChat, GivesEachChoiceTheNextSeed) {
  const Json wild = {{"temperature", 50}, {"top_k", 0}, {"top_p", 1}, {"min_p", 0}, {"max_tokens", 6}};
  const auto texts = [&](int seed, int n) {
    Json more = wild;
    more["seed"] = seed;
    more["n"] = n;
    std::vector<std::string> all;
    const Json choices = ask(more)["choices"];
    for (std::size_t i = 0; i < choices.size(); ++i) {
      EXPECT_EQ(choices[i]["index"], i);
      all.push_back(choices[i]["message"]["content"]);
    }
    return all;
  };
  const auto three = texts(7, 3);
  ASSERT_EQ(three.size(), 3u);
  EXPECT_NE(three[0], three[1]);
  EXPECT_THAT(three, testing::ElementsAre(texts(7, 1)[0], texts(8, 1)[0], texts(9, 1)[0]));
}

TEST_F(OpenAiChat, AddsBiases) {
  const Json always = {{"logit_bias", {{"65", 100}}}, {"max_tokens", 4}};
  EXPECT_EQ(choice(always)["message"]["content"], "AAAA");
  const std::string first = std::to_string(piece_token(0));
  EXPECT_THAT(choice({{"logit_bias", {{first, -100}}}})["message"]["content"].get<std::string>(),
              testing::Not(testing::StartsWith("Yes")));
}

TEST_F(OpenAiChat, HandsVariablesToTheTemplate) {
  const Json message = choice({{"chat_template_kwargs", {{"open", true}}}})["message"];
  EXPECT_EQ(message["content"], "");
  EXPECT_EQ(message["reasoning_content"], "Yes, of course.");
  const Joined all = joined(stream({{"chat_template_kwargs", {{"open", true}}}}));
  EXPECT_EQ(all.reasoning, "Yes, of course.");
  EXPECT_EQ(all.text, "");
}

TEST_F(OpenAiChat, ContinuesTheLastMessageWhereAsked) {
  Json more = {{"messages", {{{"role", "user"}, {"content", "A?"}}, {{"role", "assistant"}, {"content", "B"}}}}};
  const auto prompt_tokens = [&] { return ask(more)["usage"]["prompt_tokens"].get<std::size_t>(); };
  EXPECT_EQ(prompt_tokens(), std::string("[user]A?[assistant]B[assistant]").size());
  more["add_generation_prompt"] = false;
  EXPECT_EQ(prompt_tokens(), std::string("[user]A?[assistant]B").size());
  more["continue_final_message"] = true;
  EXPECT_EQ(prompt_tokens(), std::string("[user]A?[assistant]B").size());
  more["add_generation_prompt"] = true;
  EXPECT_EQ(refused(more), "continue_final_message");
}

TEST_F(OpenAiChat, TellsProgressWhereAsked) {
  EngineOptions small;
  small.step_tokens = small.max_sequences = 8;
  Served slow(talker(), add_openai_routes, small);
  std::vector<int> done;
  for (const Json& chunk :
       chunks_of(slow.text("POST", kPath, body({{"stream", true}, {"return_progress", true}}).dump()))) {
    if (!chunk.contains("prompt_progress")) continue;
    EXPECT_EQ(chunk["prompt_progress"]["total"], 22);
    EXPECT_EQ(chunk["prompt_progress"]["cache"], 0);
    EXPECT_GE(chunk["prompt_progress"]["time_ms"], 0);
    done.push_back(chunk["prompt_progress"]["processed"]);
  }
  EXPECT_THAT(done, testing::ElementsAre(8, 16, 22));
  EXPECT_THAT(slow.text("POST", kPath, body({{"stream", true}}).dump()), testing::Not(HasSubstr("prompt_progress")));
}

TEST_F(OpenAiChat, LetsNoTemplateVariableTakeThePlaceOfTheMessages) {
  const Json error = served.post(kPath, body({{"chat_template_kwargs", {{"messages", 5}}}}), 400)["error"];
  EXPECT_EQ(error["param"], "chat_template_kwargs");
  EXPECT_THAT(error["message"].get<std::string>(), HasSubstr("have a field of their own"));
}

TEST_F(OpenAiChat, SaysOnTheStreamWhatFailed) {
  Talk talk = talker();
  talk.breaks = true;
  Served broken(talk, add_openai_routes);
  const std::string text = broken.text("POST", kPath, body({{"stream", true}}).dump());
  const auto events = events_of(text);
  EXPECT_THAT(Json::parse(events.back().second)["error"]["message"].get<std::string>(), HasSubstr("logit"));
  EXPECT_THAT(text, testing::Not(HasSubstr("[DONE]")));
  const Json whole = broken.post(kPath, body(), 500);
  EXPECT_EQ(whole["error"]["type"], "server_error");
  EXPECT_EQ(whole, Json::parse(events.back().second));
}

TEST_F(OpenAiChat, CancelsForClientsThatLeave) {
  EngineOptions options;
  options.context = 1000;
  Served talking(endless(), add_openai_routes, options);
  FakeReply reply;
  reply.leave_after = 2000;
  talking.ask(reply, "POST", kPath, body({{"stream", true}, {"n", 2}}).dump());
  EXPECT_EQ(talking.engine.open_streams(), 0);
  EXPECT_LT(reply.body.size(), 3000u);
  EXPECT_THAT(reply.body, testing::Not(HasSubstr("[DONE]")));
}

TEST_F(OpenAiChat, SendsAwayWhoFindsTheQueueFull) {
  EngineOptions options;
  options.max_sequences = options.queue_requests = 1;
  options.context = 1000;
  Served busy(endless(), add_openai_routes, options);
  FakeReply reply;
  busy.ask(reply, "POST", kPath, body({{"n", 16}, {"stream", true}}).dump());
  EXPECT_EQ(reply.status, 429);
  EXPECT_EQ(reply.headers["Retry-After"], "1");
  EXPECT_EQ(Json::parse(reply.body)["error"]["code"], "rate_limit_exceeded");
}

TEST_F(OpenAiChat, AnswersUnderTheShortPathAndIgnoresUnknownFields) {
  const Json answer = served.post("/chat/completions", body({{"model", "any"}, {"user", "me"}, {"nonsense", {1, 2}}}));
  EXPECT_EQ(answer["choices"][0]["message"]["content"], "Yes, of course.");
}

TEST_F(OpenAiChat, TakesFieldsThatAskForNothing) {
  EXPECT_EQ(choice({{"tools", Json::array()},
                    {"tool_choice", "none"},
                    {"response_format", {{"type", "text"}}},
                    {"modalities", {"text"}},
                    {"logprobs", false},
                    {"store", false},
                    {"metadata", Json::object()},
                    {"service_tier", "auto"},
                    {"function_call", "none"},
                    {"audio", nullptr},
                    {"grammar", ""}})["message"]["content"],
            "Yes, of course.");
}

TEST_F(OpenAiChat, RefusesByName) {
  const Json object = {{"a", 1}};
  for (const char* key : {"functions",
                          "audio",
                          "prediction",
                          "grammar",
                          "json_schema",
                          "guided_json",
                          "guided_regex",
                          "guided_choice",
                          "structured_outputs",
                          "chat_template",
                          "documents",
                          "store",
                          "metadata",
                          "best_of",
                          "suffix",
                          "response_format",
                          "tool_choice",
                          "function_call",
                          "modalities",
                          "verbosity",
                          "service_tier",
                          "n",
                          "logprobs",
                          "chat_template_kwargs",
                          "reasoning_format",
                          "stream",
                          "return_progress",
                          "model",
                          "add_generation_prompt"}) {
    const Json value = key == std::string("chat_template_kwargs") ? Json(1) : object;
    EXPECT_EQ(refused({{key, value}}), key);
  }
  EXPECT_EQ(refused({{"web_search_options", Json::object()}}), "web_search_options");
  EXPECT_EQ(refused({{"n", 0}}), "n");
  EXPECT_EQ(refused({{"logprobs", true}, {"top_logprobs", 21}}), "top_logprobs");
  EXPECT_EQ(refused({{"modalities", {"text", "audio"}}}), "modalities");
  EXPECT_EQ(refused({{"reasoning_format", "deepseek-legacy"}}), "reasoning_format");
  EXPECT_EQ(refused({{"stream", true}, {"stream_options", {{"include_usage", 3}}}}), "stream_options.include_usage");
  EXPECT_EQ(refused({{"messages", nullptr}}), "messages");
  const Json longest = {{{"role", "user"}, {"content", std::string(2000, 'a')}}};
  EXPECT_THAT(served.post(kPath, body({{"messages", longest}}), 400)["error"]["message"].get<std::string>(),
              HasSubstr("tokens"));
  for (const char* broken : {"", "{", "[]", "{\"messages\": [}", "nonsense"})
    EXPECT_TRUE(Json::parse(served.text("POST", kPath, broken, 400)).contains("error")) << broken;
}

}  // namespace
}  // namespace plait::test
