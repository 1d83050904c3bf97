// What answers may take is bounded before any of it is computed, and what is long is written in parts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/long_reply.h"
#include "server/served.h"

namespace plait::test {
namespace {

using testing::HasSubstr;

std::vector<Request> asked(std::size_t answers, int tokens, std::optional<int> scores) {
  Request request;
  request.tokens = {1, 2};
  request.max_tokens = tokens;
  request.logprobs = scores;
  return std::vector<Request>(answers, request);
}

TEST(AnswerMemory, GrowsWithAnswersTokensAndAlternatives) {
  const std::size_t one = most_answer_bytes(asked(1, 100, 20), 4096, {});
  EXPECT_GE(one, 100u * 21 * 16);
  EXPECT_LE(one, 100u * 24 * 16);
  EXPECT_EQ(most_answer_bytes(asked(64, 100, 20), 4096, {}), 64 * one);
  EXPECT_EQ(most_answer_bytes(asked(1, 200, 20), 4096, {}), 2 * one);
  EXPECT_GT(most_answer_bytes(asked(1, 100, 20), 4096, {.score_bytes = 100}), 5 * one);
  EXPECT_LT(most_answer_bytes(asked(1, 100, std::nullopt), 4096, {}), one / 10);
}

TEST(AnswerMemory, IsBoundedByTheContextAndByAStreamsQueue) {
  const auto bytes = [](int tokens, bool whole) {
    return most_answer_bytes(asked(1, tokens, 20), 1002, {.whole = whole});
  };
  EXPECT_EQ(bytes(-1, true), bytes(1000, true));
  EXPECT_EQ(bytes(1 << 30, true), bytes(1000, true));
  EXPECT_EQ(bytes(1000, false), bytes(256, true));
}

TEST(AnswerMemory, CountsTheScoresOfAPrompt) {
  std::vector<Request> requests = asked(1, 0, std::nullopt);
  EXPECT_EQ(most_answer_bytes(requests, 4096, {}), 0u);
  requests.front().tokens.assign(1000, 1);
  requests.front().prompt_logprobs = 20;
  EXPECT_GE(most_answer_bytes(requests, 4096, {}), 1000u * 21 * 16);
}

TEST(AnswerMemory, IsRefusedBeyondTheBoundByTheFieldThatAsksForIt) {
  AnswerBudget budget;
  AnswerHold hold(budget);
  const auto error = hold.take(asked(64, 4096, 100), 8192, {}, "n_probs", "n_predict");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->status, 400);
  EXPECT_EQ(error->field, "n_probs");
  EXPECT_THAT(error->message, HasSubstr("n_probs is 100: 64 answers of up to 4096 tokens"));
  const auto longer = hold.take(asked(128, 1 << 20, std::nullopt), 1 << 21, {}, "n_probs", "n_predict");
  ASSERT_TRUE(longer);
  EXPECT_EQ(longer->field, "n_predict");
  EXPECT_EQ(budget.left(), kMostAnswersBytes);
}

TEST(AnswerMemory, IsSharedAndGivenBack) {
  const std::vector<Request> requests = asked(1, 1000, 20);
  const std::size_t bytes = most_answer_bytes(requests, 4096, {});
  AnswerBudget budget(2 * bytes);
  {
    AnswerHold first(budget), second(budget), third(budget);
    EXPECT_FALSE(first.take(requests, 4096, {}, "a", "b"));
    EXPECT_FALSE(second.take(requests, 4096, {}, "a", "b"));
    const auto error = third.take(requests, 4096, {}, "a", "b");
    ASSERT_TRUE(error);
    EXPECT_EQ(error->status, 429);
    EXPECT_FALSE(third.take(asked(1, 1000, std::nullopt), 4096, {}, "a", "b")) << "text alone asks for nothing";
  }
  EXPECT_EQ(budget.left(), 2 * bytes);
}

class LongAnswers : public testing::Test {
 protected:
  static EngineOptions options() {
    EngineOptions options;
    options.context = 1024;
    return options;
  }
  Served served{{.pieces = {"Yes", ", of", " course."}, .ends = false},
                [](Router& router, Service& service) {
                  add_openai_routes(router, service);
                  add_llama_server_routes(router, service);
                },
                options()};
};

TEST_F(LongAnswers, AreRefusedBeforeATokenOfThemIsComputed) {
  const Json error =
      served.post("/completion", {{"prompt", "Well?"}, {"n_cmpl", 64}, {"n_probs", 100}, {"n_predict", 1000}}, 400);
  EXPECT_THAT(error["error"]["message"].get<std::string>(), HasSubstr("n_probs is 100"));
  const std::vector<std::string> prompts(128, "Well?");
  const Json other = served.post("/v1/completions", {{"prompt", prompts}, {"logprobs", 20}, {"max_tokens", 1000}}, 400);
  EXPECT_EQ(other["error"]["param"], "logprobs");
  EXPECT_EQ(served.engine.stats().computed_tokens, 0u);
}

TEST_F(LongAnswers, HaveAllTheirScores) {
  const Json both = served.post(
      "/completion", {{"prompt", "Well?"}, {"n_cmpl", 2}, {"n_probs", 100}, {"n_predict", 60}, {"temperature", 0}});
  ASSERT_EQ(both.size(), 2u);
  for (const Json& one : both) {
    ASSERT_EQ(one["completion_probabilities"].size(), 60u);
    EXPECT_EQ(one["completion_probabilities"][59]["top_logprobs"].size(), 100u);
    EXPECT_EQ(one["completion_probabilities"][1]["token"], ", of");
  }
  const Json chat = served.post("/v1/chat/completions", {{"messages", {{{"role", "user"}, {"content", "Well?"}}}},
                                                         {"n", 2},
                                                         {"logprobs", true},
                                                         {"top_logprobs", 20},
                                                         {"max_tokens", 60},
                                                         {"temperature", 0}});
  ASSERT_EQ(chat["choices"].size(), 2u);
  EXPECT_EQ(chat["choices"][1]["logprobs"]["content"].size(), 60u);
  EXPECT_EQ(chat["usage"]["completion_tokens"], 120);
}

TEST_F(LongAnswers, ShowOnlyTheMembersThatAreNamed) {
  Json wish = {{"prompt", "Well?"}, {"n_probs", 1}, {"n_predict", 2}, {"response_fields", {"content"}}};
  EXPECT_EQ(served.post("/completion", wish).size(), 1u);
  wish["response_fields"] = {"completion_probabilities"};
  const Json scores = served.post("/completion", wish);
  EXPECT_EQ(scores.size(), 1u);
  EXPECT_EQ(scores["completion_probabilities"].size(), 2u);
}

}  // namespace
}  // namespace plait::test
