// /v1/completions: forms of prompts, echo, scores in lists, streams beside whole answers, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/served.h"

namespace plait::test {
namespace {

using testing::HasSubstr;

constexpr const char* kPath = "/v1/completions";

Talk talker() { return {.pieces = {"Yes", ", of", " course."}}; }
Talk endless() { return {.pieces = {"Yes", ", of"}, .ends = false}; }

Json body(const Json& more = Json::object()) {
  Json json = {{"prompt", "Well?"}, {"temperature", 0}};
  json.update(more);
  return json;
}

class OpenAiCompletions : public testing::Test {
 protected:
  Json ask(const Json& more = Json::object()) { return served.post(kPath, body(more)); }
  Json choice(const Json& more) { return ask(more)["choices"][0]; }
  std::string refused(const Json& more) { return served.post(kPath, body(more), 400)["error"]["param"]; }
  Json streamed(Json more) {
    more["stream"] = true;
    return streamed_choice(served.text("POST", kPath, body(more).dump()));
  }

  Served served{talker(), add_openai_routes};
};

TEST_F(OpenAiCompletions, HaveTheShapeOfOpenAi) {
  const Json answer = ask();
  EXPECT_THAT(answer["id"].get<std::string>(), testing::StartsWith("cmpl-"));
  EXPECT_EQ(answer["object"], "text_completion");
  EXPECT_EQ(
      answer["choices"],
      Json::array({{{"text", "Yes, of course."}, {"index", 0}, {"logprobs", nullptr}, {"finish_reason", "stop"}}}));
  EXPECT_EQ(answer["usage"]["prompt_tokens"], 5);
  EXPECT_EQ(answer["usage"]["total_tokens"], 8);
}

TEST_F(OpenAiCompletions, TakePromptsInAllForms) {
  const auto prompt_tokens = [&](const Json& prompt) { return ask({{"prompt", prompt}})["usage"]["prompt_tokens"]; };
  EXPECT_EQ(prompt_tokens("Well?"), 5);
  EXPECT_EQ(prompt_tokens({"Well?", "Or?"}), 8);
  EXPECT_EQ(prompt_tokens({65, 66}), 2);
  EXPECT_EQ(prompt_tokens({{65, 66}, {67}}), 3);
  EXPECT_EQ(prompt_tokens(Json::array({"Well?"})), 5);
}

TEST_F(OpenAiCompletions, NumberChoicesPromptByPrompt) {
  const Json wild = {{"prompt", {"A", "B"}}, {"n", 2},     {"seed", 3},       {"temperature", 50}, {"top_k", 0},
                     {"top_p", 1},           {"min_p", 0}, {"max_tokens", 6}, {"echo", true}};
  const Json answer = ask(wild);
  ASSERT_EQ(answer["choices"].size(), 4u);
  EXPECT_EQ(answer["usage"]["prompt_tokens"], 2);  // Each once.
  EXPECT_EQ(answer["usage"]["completion_tokens"], 24);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(answer["choices"][i]["index"], i);
    EXPECT_THAT(answer["choices"][i]["text"].get<std::string>(), testing::StartsWith(i < 2 ? "A" : "B"));
    Json alone = wild;
    alone.update({{"prompt", i < 2 ? "A" : "B"}, {"n", 1}, {"seed", 3 + i % 2}});
    EXPECT_EQ(choice(alone)["text"], answer["choices"][i]["text"]);
  }
}

TEST_F(OpenAiCompletions, EndAfterSixteenTokensUnlessToldOtherwise) {
  Served talking(endless(), add_openai_routes);
  EXPECT_EQ(talking.post(kPath, body())["usage"]["completion_tokens"], 16);
  const Json answer = talking.post(kPath, body({{"max_tokens", 20}}));
  EXPECT_EQ(answer["usage"]["completion_tokens"], 20);
  EXPECT_EQ(answer["choices"][0]["finish_reason"], "length");
}

TEST_F(OpenAiCompletions, StopWithinTokens) {
  EXPECT_EQ(choice({{"stop", {"f c"}}})["text"], "Yes, o");
  EXPECT_EQ(streamed({{"stop", "f c"}}), choice({{"stop", "f c"}}));
}

TEST_F(OpenAiCompletions, ScoreTokensInLists) {
  const Json made = choice({{"logprobs", 2}});
  const Json& lists = made["logprobs"];
  EXPECT_EQ(lists["tokens"], Json({"Yes", ", of", " course."}));
  EXPECT_EQ(lists["text_offset"], Json({0, 3, 7}));
  ASSERT_EQ(lists["token_logprobs"].size(), 3u);
  EXPECT_EQ(lists["top_logprobs"][0]["Yes"], lists["token_logprobs"][0]);
  EXPECT_EQ(lists["top_logprobs"][0].size(), 2u);
  EXPECT_EQ(streamed({{"logprobs", 2}}), made);
  EXPECT_EQ(choice({{"logprobs", 0}})["logprobs"]["top_logprobs"][0].size(), 1u);  // The chosen one is always there.
}

TEST_F(OpenAiCompletions, SpellTokensThatArePartsOfACharacterByTheirBytes) {
  Served euro({.pieces = {"\xe2\x82", "\xac."}}, add_openai_routes);
  const Json made = euro.post(kPath, body({{"logprobs", 0}}))["choices"][0];
  EXPECT_EQ(made["text"], "\u20ac.");
  EXPECT_EQ(made["logprobs"]["tokens"], Json({"bytes:\\xe2\\x82", "bytes:\\xac\\x2e"}));
}

TEST_F(OpenAiCompletions, EchoTextsAndIds) {
  EXPECT_EQ(choice({{"echo", true}})["text"], "Well?Yes, of course.");
  EXPECT_EQ(choice({{"echo", true}, {"prompt", {65, 66}}})["text"], "ABYes, of course.");
  EXPECT_EQ(streamed({{"echo", true}}), choice({{"echo", true}}));
  const Json only = choice({{"echo", true}, {"max_tokens", 0}});
  EXPECT_EQ(only["text"], "Well?");
  EXPECT_EQ(only["finish_reason"], "length");
  EXPECT_EQ(streamed({{"echo", true}, {"max_tokens", 0}}), only);
}

TEST_F(OpenAiCompletions, StreamUsageLast) {
  const std::string text = served.text(
      "POST", kPath,
      body({{"stream", true}, {"stream_options", {{"include_usage", true}}}, {"prompt", {"A", "B"}}}).dump());
  const auto events = events_of(text);
  ASSERT_GE(events.size(), 3u);
  const Json last = Json::parse(events[events.size() - 2].second);
  EXPECT_TRUE(last["choices"].empty());
  EXPECT_EQ(last["usage"]["completion_tokens"], 6);
}

TEST_F(OpenAiCompletions, CancelForClientsThatLeave) {
  EngineOptions options;
  options.context = 1000;
  Served talking(endless(), add_openai_routes, options);
  FakeReply reply;
  reply.leave_after = 2000;
  talking.ask(reply, "POST", kPath, body({{"stream", true}, {"max_tokens", -1}, {"prompt", {"A", "B"}}}).dump());
  EXPECT_LT(reply.body.size(), 3000u);
  EXPECT_THAT(reply.body, testing::Not(HasSubstr("[DONE]")));
}

TEST_F(OpenAiCompletions, RefuseByName) {
  for (const char* key : {"suffix", "tools", "grammar", "response_format", "top_logprobs", "messages", "echo",
                          "logprobs", "n", "best_of", "stream"})
    EXPECT_EQ(refused({{key, {{"a", 1}}}}), key);
  EXPECT_EQ(refused({{"logprobs", true}}), "logprobs");
  EXPECT_EQ(refused({{"logprobs", 21}}), "logprobs");
  EXPECT_EQ(refused({{"best_of", 3}, {"n", 2}}), "best_of");
  EXPECT_EQ(ask({{"best_of", 2}, {"n", 2}})["choices"].size(), 2u);
  EXPECT_EQ(refused({{"prompt", std::vector<std::string>(129, "a")}}), "prompt");
  EXPECT_EQ(refused({{"prompt", std::vector<std::string>(65, "a")}, {"n", 2}}), "n");
  for (const char* prompt : {"null", "3", "{}", "[]", "[[]]", "[1, \"a\"]", "[\"a\", 1]", "[1.5]", "[-1]", "[1e12]",
                             "[[1], \"\"]", "\"\"", "[[[1]]]"})
    EXPECT_EQ(refused({{"prompt", Json::parse(prompt)}}), "prompt") << prompt;
  EXPECT_THAT(served.post(kPath, body({{"prompt", {1, 5000}}}), 400)["error"]["message"].get<std::string>(),
              HasSubstr("token 2 of the prompt is 5000"));
}

}  // namespace
}  // namespace plait::test
