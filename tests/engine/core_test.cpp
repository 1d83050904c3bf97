// Core: what requests over a fake model give: company, pauses, stops, ends, and each refusal.
#include "engine/core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "engine/core_bench.h"

namespace plait {
namespace {

using testing::HasSubstr;

TEST(Core, ReportsProgressThenTokensThenTheEnd) {
  Bench bench({.step_tokens = 16, .max_sequences = 4});
  const Request request = request_of(3, 40, 5);
  Stream stream = bench.submit(request);
  const Collected all = collect(stream);
  EXPECT_THAT(all.progress, testing::ElementsAre(16, 32, 40));
  EXPECT_EQ(all.tokens, expected_of(request, 256).tokens);
  EXPECT_EQ(all.tokens.size(), 5u);
  EXPECT_EQ(all.text, text_of(all.tokens));
  EXPECT_EQ(all.finish.finish, FinishReason::kLength);
  EXPECT_EQ(all.finish.usage.prompt_tokens, 40);
  EXPECT_EQ(all.finish.usage.generated_tokens, 5);
  EXPECT_EQ(all.finish.usage.reused_tokens, 0);
  EXPECT_GT(all.finish.usage.prefill_tokens_per_s, 0);
  EXPECT_GT(all.finish.usage.decode_tokens_per_s, 0);
  EXPECT_GT(all.finish.usage.first_token_s, 0);
  EXPECT_FALSE(stream.next());
}

TEST(Core, GivesTheSameAnswersInAnyCompany) {
  const Shape shapes[] = {{.max_sequences = 1},
                          {.max_sequences = 8},
                          {.step_tokens = 3, .max_sequences = 3},
                          {.step_tokens = 1, .max_sequences = 1},
                          {.blocks = 16, .step_tokens = 40},  // One context: the others wait or are paused.
                          {.blocks = 16, .step_tokens = 17, .max_sequences = 16, .queue_events = 2},
                          {.recurrent = true},
                          {.blocks = 18, .step_tokens = 50, .recurrent = true}};
  for (const Shape& shape : shapes) {
    Bench bench(shape);
    std::vector<Request> requests;
    for (std::uint64_t seed = 0; seed < 24; ++seed)
      requests.push_back(request_of(seed, 1 + static_cast<int>(seed * 7 % 90), static_cast<int>(seed * 13 % 100)));
    std::vector<Stream> streams;
    for (const Request& request : requests) streams.push_back(bench.submit(request));
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const Collected all = collect(streams[i]);
      const Expected expected = expected_of(requests[i], shape.context);
      ASSERT_EQ(all.tokens, expected.tokens) << i;
      ASSERT_EQ(all.text, text_of(expected.tokens)) << i;
      ASSERT_EQ(all.finish.finish, expected.finish) << i;
    }
  }
}

TEST(Core, EndsOnlyTheRequestWhoseLogitsAreNoNumbers) {
  Bench bench({});
  int failed = 0;
  std::vector<Request> requests;
  std::vector<Stream> streams;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    requests.push_back(request_of(seed, 9, 60));
    streams.push_back(bench.submit(requests.back()));
  }
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const Collected all = collect(streams[i]);
    ASSERT_EQ(all.finish.finish, expected_of(requests[i], 256).finish);
    if (all.finish.finish != FinishReason::kError) continue;
    ++failed;
    ASSERT_TRUE(all.finish.error);
    EXPECT_EQ(all.finish.error->code, ErrorCode::kCorrupt);
    EXPECT_THAT(all.finish.error->message, HasSubstr("the logit of token 49 at position"));
  }
  EXPECT_GT(failed, 0);
  EXPECT_LT(failed, 20);
}

TEST(Core, StopsBeforeAStopStringThatSpansTokens) {
  Bench bench({});
  const Request plain = request_of(11, 12, 40);
  Stream first = bench.submit(plain);
  const std::string text = collect(first).text;
  ASSERT_GT(text.size(), 12u);
  for (std::size_t at = 1; at + 5 < text.size(); at += 3) {
    Request request = plain;
    request.stop = {"not in it", text.substr(at, 4)};
    Stream stream = bench.submit(request);
    const Collected all = collect(stream);
    const std::size_t found = text.find(request.stop[1]);
    EXPECT_EQ(all.text, text.substr(0, found));
    EXPECT_EQ(all.finish.finish, FinishReason::kStop);
    EXPECT_EQ(all.finish.stop, request.stop[1]);
  }
}

TEST(Core, EndsAtAnEndTokenUnlessToldOtherwise) {
  Bench bench({});
  Request request = request_of(5, 4, 3);
  request.sampling.logit_bias = {{0, 1e6}};
  Stream stream = bench.submit(request);
  const Collected ended = collect(stream);
  EXPECT_EQ(ended.finish.finish, FinishReason::kStop);
  EXPECT_EQ(ended.finish.stop, "");
  EXPECT_TRUE(ended.tokens.empty());
  EXPECT_EQ(ended.finish.usage.generated_tokens, 0);
  request.ignore_end = true;
  request.special = true;
  Stream again = bench.submit(request);
  const Collected ignored = collect(again);
  EXPECT_EQ(ignored.text, "<end><end><end>");
  EXPECT_EQ(ignored.finish.finish, FinishReason::kLength);
}

TEST(Core, ComputesThePromptAloneWhenNoTokensAreWanted) {
  Bench bench({});
  Stream stream = bench.submit(request_of(5, 33, 0));
  const Collected all = collect(stream);
  EXPECT_EQ(all.progress.back(), 33);
  EXPECT_TRUE(all.tokens.empty());
  EXPECT_EQ(all.finish.finish, FinishReason::kLength);
}

TEST(Core, ReportsLogProbabilitiesBeforeSampling) {
  Bench bench({});
  Request request = request_of(2, 8, 6);
  request.logprobs = 3;
  Stream stream = bench.submit(request);
  const Collected all = collect(stream);
  std::uint64_t hash = 0;
  for (const Token token : request.tokens) hash = random_bits(hash, static_cast<std::uint64_t>(token));
  ASSERT_FALSE(all.tokens.empty());
  for (std::size_t i = 0; i < all.tokens.size(); ++i) {
    const std::vector<float> logits = FakeModel::logits_of(hash);
    const double total = Sampler::log_sum_exp(logits);
    EXPECT_EQ(all.scores[i].logprob, logits[static_cast<std::size_t>(all.tokens[i])] - total);
    ASSERT_EQ(all.scores[i].alternatives.size(), 3u);
    EXPECT_EQ(all.scores[i].alternatives[0].logprob, *std::max_element(logits.begin(), logits.end()) - total);
    hash = random_bits(hash, static_cast<std::uint64_t>(all.tokens[i]));
  }
}

TEST(Core, EndsWhenTheContextIsFull) {
  Bench bench({.context = 20});
  Request request = request_of(1, 10, -1);
  request.sampling.temp = 0;
  request.sampling.logit_bias = {{30, 1e6}};
  Stream stream = bench.submit(request);
  const Collected all = collect(stream);
  EXPECT_EQ(all.tokens.size(), 10u);
  EXPECT_EQ(all.finish.finish, FinishReason::kLength);
  EXPECT_FALSE(all.finish.error);
}

TEST(Core, EndsARequestThatOutgrowsTheMemoryAlone) {
  Bench bench({.blocks = 2, .context = 256});
  // A seed whose logits are numbers for long enough.
  std::uint64_t seed = 0;
  while (expected_of(request_of(seed, 4, 40), 256).tokens.size() < 40) ++seed;
  const Request request = request_of(seed, 4, 100);
  Stream stream = bench.submit(request);
  const Collected all = collect(stream);
  EXPECT_EQ(all.tokens.size(), 29u);  // 32 rows; the last token has none.
  EXPECT_EQ(all.finish.finish, FinishReason::kLength);
  ASSERT_TRUE(all.finish.error);
  EXPECT_THAT(all.finish.error->message, HasSubstr("do not fit into memory for 32"));
}

TEST(Core, RefusesWhatMakesNoSense) {
  Bench bench({.blocks = 4, .context = 100});
  struct Case {
    std::function<void(Request&)> spoil;
    ErrorCode code;
    const char* message;
  };
  const Case cases[] = {
      {[](Request& r) { r.tokens.clear(); }, ErrorCode::kInvalidArgument, "no tokens"},
      {[](Request& r) {
         r.tokens = {3, 50};
       },
       ErrorCode::kInvalidArgument, "token 2 of the prompt is 50, wanted 0 to 49"},
      {[](Request& r) { r.tokens = {-1}; }, ErrorCode::kInvalidArgument, "token 1 of the prompt is -1"},
      {[](Request& r) { r.tokens.assign(100, 3); }, ErrorCode::kTooLong,
       "the prompt has 100 tokens, which leaves no room for an answer in a context of 100"},
      {[](Request& r) { r.tokens.assign(70, 3); }, ErrorCode::kTooLong,
       "the prompt has 70 tokens, there is memory for the rows of 64"},
      {[](Request& r) { r.max_tokens = -2; }, ErrorCode::kInvalidArgument, "max_tokens is -2"},
      {[](Request& r) { r.logprobs = 101; }, ErrorCode::kInvalidArgument, "logprobs is 101"},
      {[](Request& r) { r.sampling.top_p = 2; }, ErrorCode::kInvalidArgument, "top_p is 2"},
      {[](Request& r) { r.stop = {""}; }, ErrorCode::kInvalidArgument, "stop string 1 is empty"},
  };
  for (const Case& c : cases) {
    Request request = request_of(1, 5, 5);
    c.spoil(request);
    const auto stream = bench.core->submit(request, request.tokens);
    ASSERT_FALSE(stream) << c.message;
    EXPECT_EQ(stream.error().code, c.code);
    EXPECT_THAT(stream.error().message, HasSubstr(c.message));
  }
  EXPECT_EQ(bench.core->open_streams(), 0);
}

}  // namespace
}  // namespace plait
