// /v1/completions with echo and logprobs, as evaluations score what is there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/served.h"

namespace plait::test {
namespace {

constexpr const char* kPath = "/v1/completions";

Talk talker() { return {.pieces = {"Yes", ", of", " course."}}; }

Json body(const Json& more = Json::object()) {
  Json json = {{"prompt", "Well?"}, {"temperature", 0}};
  json.update(more);
  return json;
}

class OpenAiScores : public testing::Test {
 protected:
  Json choice(const Json& more) { return served.post(kPath, body(more))["choices"][0]; }
  Json streamed(Json more) {
    more["stream"] = true;
    return streamed_choice(served.text("POST", kPath, body(more).dump()));
  }

  Served served{talker(), add_openai_routes};
};

TEST_F(OpenAiScores, ScoreAnEchoedPromptButItsFirstToken) {
  const Json wish = {{"echo", true}, {"logprobs", 1}, {"max_tokens", 0}};
  const Json made = choice(wish);
  const Json& lists = made["logprobs"];
  EXPECT_EQ(lists["tokens"], Json({"W", "e", "l", "l", "?"}));
  EXPECT_EQ(lists["text_offset"], Json({0, 1, 2, 3, 4}));
  EXPECT_TRUE(lists["token_logprobs"][0].is_null());
  EXPECT_TRUE(lists["top_logprobs"][0].is_null());
  ASSERT_EQ(lists["token_logprobs"].size(), 5u);
  for (std::size_t i = 1; i < 5; ++i) {  // All is followed by "Yes", whatever the prompt says.
    EXPECT_LT(lists["token_logprobs"][i], -5);
    EXPECT_GT(lists["top_logprobs"][i]["Yes"], -0.5);
    EXPECT_EQ(lists["top_logprobs"][i].size(), 2u);
  }
  EXPECT_EQ(streamed(wish), made);
}

TEST_F(OpenAiScores, ScoreOneTokenBehindThePromptEvenIfItIsTheEnd) {
  const Json ids = {65, piece_token(0), piece_token(1), piece_token(2)};
  for (const Json& prompt : {Json("Well?"), ids}) {
    const std::size_t length = prompt.is_string() ? 5 : 4;
    const Json lists = choice({{"echo", true}, {"logprobs", 1}, {"max_tokens", 1}, {"prompt", prompt}})["logprobs"];
    EXPECT_EQ(lists["tokens"].size(), length + 1);
    EXPECT_EQ(lists["token_logprobs"].size(), length + 1);
  }
  const Json said = choice({{"echo", true}, {"logprobs", 1}, {"max_tokens", 1}, {"prompt", ids}})["logprobs"];
  double sum = 0;  // As evaluations add it up: what follows the context, without the answer's token.
  for (std::size_t i = 1; i < 4; ++i) {
    sum += said["token_logprobs"][i].get<double>();
    EXPECT_EQ(said["top_logprobs"][i].size(), 1u) << "the best one is the one that is there";
  }
  EXPECT_GT(sum, -1);
  EXPECT_LT(sum, 0);
}

TEST_F(OpenAiScores, ScoreAPromptAsTheAnswerWasScored) {
  const Json answer = choice({{"prompt", {65}}, {"logprobs", 0}})["logprobs"]["token_logprobs"];
  const Json ids = {65, piece_token(0), piece_token(1), piece_token(2)};
  const Json prompt = choice({{"prompt", ids}, {"logprobs", 0}, {"echo", true}, {"max_tokens", 0}})["logprobs"];
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_NEAR(prompt["token_logprobs"][i + 1].get<double>(), answer[i].get<double>(), 1e-5);
}

}  // namespace
}  // namespace plait::test
