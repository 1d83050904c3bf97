// Request::prompt_logprobs: the scores of a prompt's tokens, each once, in any company and through pauses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <filesystem>
#include <latch>

#include "engine/core_bench.h"

namespace plait {
namespace {

using testing::HasSubstr;

// By definition; empty where some logits are no numbers.
std::vector<ScoredChoice> expected_scores(const Request& request) {
  std::vector<ScoredChoice> scores;
  Sampler sampler(FakeModel::kVocabulary);
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i + 1 < request.tokens.size(); ++i) {
    hash = random_bits(hash, static_cast<std::uint64_t>(request.tokens[i]));
    const std::vector<float> logits = FakeModel::logits_of(hash);
    if (std::isnan(logits[FakeModel::kPoison])) return {};
    const double total = Sampler::log_sum_exp(logits);
    scores.push_back({static_cast<double>(logits[static_cast<std::size_t>(request.tokens[i + 1])]) - total,
                      sampler.best(logits, total, *request.prompt_logprobs)});
  }
  return scores;
}

void expect_same(const std::vector<ScoredChoice>& scores, const std::vector<ScoredChoice>& expected) {
  ASSERT_EQ(scores.size(), expected.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    ASSERT_EQ(scores[i].logprob, expected[i].logprob) << i;
    ASSERT_EQ(scores[i].alternatives.size(), expected[i].alternatives.size());
    for (std::size_t k = 0; k < scores[i].alternatives.size(); ++k) {
      ASSERT_EQ(scores[i].alternatives[k].token, expected[i].alternatives[k].token);
      ASSERT_EQ(scores[i].alternatives[k].logprob, expected[i].alternatives[k].logprob);
    }
  }
}

Request scored_request(std::uint64_t seed, int prompt_tokens, int max_tokens) {
  Request request = request_of(seed, prompt_tokens, max_tokens);
  request.prompt_logprobs = static_cast<int>(seed % 4);
  return request;
}

TEST(PromptScores, ComeOnceEachInAnyCompanyAndThroughPauses) {
  const Shape shapes[] = {{.max_sequences = 1},
                          {.step_tokens = 3, .max_sequences = 3},
                          {.step_tokens = 1, .max_sequences = 1},
                          {.blocks = 16, .step_tokens = 40},  // One context: the others wait or are paused.
                          {.blocks = 16, .step_tokens = 17, .max_sequences = 16, .queue_events = 2},
                          {.blocks = 18, .step_tokens = 50, .recurrent = true}};
  for (const Shape& shape : shapes) {
    Bench bench(shape);
    std::vector<Request> requests;
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
      Request request = scored_request(seed, 1 + static_cast<int>(seed * 7 % 90), static_cast<int>(seed * 13 % 100));
      if (expected_scores(request).empty() && request.tokens.size() > 1) request.prompt_logprobs.reset();
      requests.push_back(std::move(request));
    }
    std::vector<Stream> streams;
    for (const Request& request : requests) streams.push_back(bench.submit(request));
    std::size_t scored = 0;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const Collected all = collect(streams[i]);
      const Expected expected = expected_of(requests[i], shape.context);
      ASSERT_EQ(all.tokens, expected.tokens) << i;
      ASSERT_EQ(all.finish.finish, expected.finish) << i;
      if (!requests[i].prompt_logprobs) {
        ASSERT_TRUE(all.prompt_scores.empty());
        continue;
      }
      expect_same(all.prompt_scores, expected_scores(requests[i]));
      scored += all.prompt_scores.size();
    }
    EXPECT_GT(scored, 100u);
  }
}

TEST(PromptScores, AreNotDeliveredAgainAfterAPause) {
  Bench bench({.blocks = 14, .step_tokens = 32, .max_sequences = 4});
  std::latch submitted(1);  // All are there before the first step, so that two begin and cannot both end.
  bench.model.before_step = [&](auto) { submitted.wait(); };
  std::vector<Request> requests;
  for (std::uint64_t seed = 0; requests.size() < 6; ++seed) {
    Request request = scored_request(seed, 60, 100);
    if (!expected_scores(request).empty() && expected_of(request, 256).tokens.size() == 100)
      requests.push_back(request);
  }
  std::vector<Stream> streams;
  for (const Request& request : requests) streams.push_back(bench.submit(request));
  submitted.count_down();
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Collected all = collect(streams[i]);
    EXPECT_EQ(all.tokens, expected_of(requests[i], 256).tokens);
    expect_same(all.prompt_scores, expected_scores(requests[i]));
  }
  EXPECT_GT(bench.core->stats().pauses, 0u);
}

TEST(PromptScores, ComeWithOneEventAStep) {
  Bench bench({.step_tokens = 16, .max_sequences = 4});
  Request request = scored_request(0, 40, 0);
  while (expected_scores(request).empty()) request = scored_request(request.sampling.seed + 1, 40, 0);
  Stream stream = bench.submit(request);
  std::vector<std::size_t> sizes;
  while (auto event = stream.next()) {
    if (event->kind == Event::Kind::kPrefill) sizes.push_back(event->prompt_scores.size());
    if (event->kind != Event::Kind::kFinish) continue;
    EXPECT_EQ(event->finish, FinishReason::kLength);
  }
  EXPECT_THAT(sizes, testing::ElementsAre(16, 16, 7));
}

TEST(PromptScores, EndARequestWhosePromptHasLogitsThatAreNoNumbers) {
  Bench bench({.step_tokens = 8});
  Request request = scored_request(0, 60, 4);
  while (!expected_scores(request).empty()) request = scored_request(request.sampling.seed + 1, 60, 4);
  Stream stream = bench.submit(request);
  const Collected all = collect(stream);
  EXPECT_EQ(all.finish.finish, FinishReason::kError);
  ASSERT_TRUE(all.finish.error);
  EXPECT_THAT(all.finish.error->message, HasSubstr("the logit of token 49 at position"));
  EXPECT_TRUE(all.tokens.empty());
}

TEST(PromptScores, FillTheWholeContextWhereNoAnswerIsWanted) {
  Bench bench({.context = 40});
  Request request = scored_request(0, 40, 0);
  while (expected_scores(request).empty()) request = scored_request(request.sampling.seed + 1, 40, 0);
  Stream stream = bench.submit(request);
  expect_same(collect(stream).prompt_scores, expected_scores(request));
  request.max_tokens = 1;
  EXPECT_THAT(bench.core->submit(request, request.tokens).error().message, HasSubstr("no room for an answer"));
  request.max_tokens = 0;
  request.tokens.push_back(3);
  EXPECT_THAT(bench.core->submit(request, request.tokens).error().message,
              HasSubstr("the prompt has 41 tokens, the context has room for 40"));
  request.tokens.resize(4);
  for (const int wrong : {-1, 101}) {
    request.prompt_logprobs = wrong;
    EXPECT_THAT(bench.core->submit(request, request.tokens).error().message,
                HasSubstr(fmt::format("prompt_logprobs is {}, wanted 0 to 100", wrong)));
  }
}

const std::string kModel = PLAIT_GOLDEN_DIR "/models/llama/model.gguf";

// What the engine says of the tiny model's prompt must be the log-softmax of that model's own rows.
TEST(PromptScores, AreThoseOfTheModelForAnyChunks) {
  if (!std::filesystem::exists(kModel)) GTEST_SKIP() << "there is no " << kModel;
  Request request;
  for (int i = 0; i < 100; ++i) request.tokens.push_back((i * i * 7 + i) % 384);
  request.max_tokens = 5;
  request.ignore_end = true;
  request.logprobs = 2;
  std::vector<ScoredChoice> first;
  std::vector<Token> plain;
  for (const int chunk : {512, 1, 3, 16, 40}) {
    EngineOptions options;
    options.model = kModel;
    options.threads = 1;
    options.context = 300;
    options.step_tokens = chunk;
    auto engine = Engine::open(options);
    ASSERT_TRUE(engine) << engine.error().message;
    request.prompt_logprobs.reset();
    if (plain.empty()) plain = engine->generate(request)->tokens;
    request.prompt_logprobs = 5;
    const auto completion = engine->generate(request);
    ASSERT_TRUE(completion) << completion.error().message;
    EXPECT_EQ(completion->tokens, plain);
    ASSERT_EQ(completion->prompt_scores.size(), 99u);
    if (first.empty()) first = completion->prompt_scores;
    expect_same(completion->prompt_scores, first);
    // A prompt's token, generated, has the same score.
    Request shorter = request;
    shorter.tokens.resize(50);
    shorter.max_tokens = 1;
    shorter.sampling.temp = 0;
    shorter.sampling.logit_bias = {{request.tokens[50], 1e6}};
    shorter.logprobs = 5;
    const auto forced = engine->generate(shorter);
    ASSERT_TRUE(forced) << forced.error().message;
    ASSERT_EQ(forced->tokens[0], request.tokens[50]);
    expect_same(forced->logprobs, {first[49]});
  }
}

}  // namespace
}  // namespace plait
