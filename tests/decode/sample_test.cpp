// Sampler: against the slow reference, by distribution, and each refusal.
#include "decode/sample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "base/random.h"
#include "support/sample_reference.h"

namespace plait {
namespace {

using testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

// Logits on a coarse grid, so that there are many ties.
std::vector<float> random_logits(int count, std::uint64_t seed, double spread) {
  std::vector<float> logits;
  for (int i = 0; i < count; ++i) {
    const double u =
        random_unit(seed, static_cast<std::uint64_t>(i)) + random_unit(seed + 1, static_cast<std::uint64_t>(i));
    logits.push_back(static_cast<float>(std::floor(u * 64) / 64 * spread - spread));
  }
  return logits;
}

SampleOptions random_options(std::uint64_t seed, int vocabulary) {
  std::uint64_t draws = 0;
  auto pick = [&](std::vector<double> from) { return from[random_bits(seed, draws++) % from.size()]; };
  SampleOptions options;
  options.temp = pick({-1, 0, 0.1, 0.8, 1, 2, 1000});
  options.top_k = static_cast<int>(pick({-1, 0, 1, 2, 40, 1000}));
  options.top_p = pick({0, 0.3, 0.95, 1});
  options.min_p = pick({0, 0.05, 0.5, 1});
  options.repeat_penalty = pick({1, 1.1, 0.5, 1000});
  options.presence_penalty = pick({0, 0, 0.5, -2});
  options.frequency_penalty = pick({0, 0, 0.25, -1});
  options.repeat_last_n = static_cast<int>(pick({-1, 0, 3, 64}));
  for (int i = static_cast<int>(pick({0, 0, 1, 5})); i > 0; --i)
    options.logit_bias.push_back(
        {static_cast<Token>(random_bits(seed, draws++) % static_cast<std::uint64_t>(vocabulary)),
         pick({-kInfinity, -3, 2, 1e6})});
  options.seed = random_bits(seed, 999);
  return options;
}

TEST(Sampler, ChoosesWhatTheSlowReferenceChooses) {
  for (const int vocabulary : {1, 2, 7, 300}) {
    Sampler sampler(vocabulary);
    for (std::uint64_t seed = 0; seed < 1500; ++seed) {
      const auto logits = random_logits(vocabulary, seed * 3 + 5, seed % 2 == 0 ? 8 : 0.5);
      const SampleOptions options = random_options(seed, vocabulary);
      ASSERT_TRUE(check_sampling(options, vocabulary));
      std::vector<Token> history;
      for (std::uint64_t i = 0; i < random_bits(seed, 5) % 90; ++i)
        history.push_back(static_cast<Token>(random_bits(seed, 100 + i) % static_cast<std::uint64_t>(vocabulary)));
      const auto expected = reference_choose(logits, options, history);
      const auto token = sampler.choose(logits, options, history);
      ASSERT_EQ(token.has_value(), expected.has_value()) << seed;
      if (!token) continue;
      ASSERT_EQ(*token, expected->token) << "vocabulary " << vocabulary << ", seed " << seed;
    }
  }
}

TEST(Sampler, TakesTheLowestIdAmongEqualsWhenGreedy) {
  Sampler sampler(5);
  SampleOptions options;
  options.temp = 0;
  EXPECT_EQ(*sampler.choose(std::vector<float>{1, 3, 2, 3, 3}, options, {}), 1);
  options.logit_bias = {{1, -kInfinity}};
  EXPECT_EQ(*sampler.choose(std::vector<float>{1, 3, 2, 3, 3}, options, {}), 3);
}

TEST(Sampler, DrawsAsOftenAsProbabilitiesSay) {
  const std::vector<float> logits{2.0f, 1.0f, 0.5f, 0.0f, -1.0f, -9.0f};
  Sampler sampler(6);
  SampleOptions options;
  options.temp = 1.3;
  options.seed = 11;
  constexpr int kDraws = 40000;
  std::map<Token, int> seen;
  std::vector<Token> history;
  const ReferenceChoice expected = *reference_choose(logits, options, {});
  for (int i = 0; i < kDraws; ++i) {
    ++seen[*sampler.choose(logits, options, history)];
    history.push_back(0);
  }
  for (std::size_t i = 0; i < expected.kept.size(); ++i) {
    const double p = expected.probabilities[i];
    const double deviation = std::sqrt(kDraws * p * (1 - p));
    EXPECT_NEAR(seen[expected.kept[i]], kDraws * p, 4 * deviation + 1) << "token " << expected.kept[i];
  }
  EXPECT_EQ(seen[5], 0);  // min-p took it out.
}

TEST(Sampler, DependsOnSeedAndPositionAlone) {
  const auto logits = random_logits(100, 3, 2);
  Sampler used(100), fresh(100);
  SampleOptions options;
  options.repeat_penalty = 1.3;
  for (Token t = 0; t < 50; ++t)
    (void)used.choose(random_logits(100, static_cast<std::uint64_t>(t), 5), options, std::vector<Token>{t});
  const std::vector<Token> history{1, 2, 3};
  EXPECT_EQ(*used.choose(logits, options, history), *fresh.choose(logits, options, history));
}

TEST(Sampler, ReportsLogitsThatAreNoNumbers) {
  Sampler sampler(3);
  for (const double bad : {kNan, kInfinity, -kInfinity}) {
    const auto token = sampler.choose(std::vector<float>{0, static_cast<float>(bad), 1}, {}, std::vector<Token>{1, 2});
    ASSERT_FALSE(token);
    EXPECT_EQ(token.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(token.error().message, HasSubstr("the logit of token 1 at position 2 is"));
  }
}

TEST(Sampler, ReportsThatEveryTokenIsBanned) {
  Sampler sampler(2);
  SampleOptions options;
  options.logit_bias = {{0, -kInfinity}, {1, -kInfinity}};
  const auto token = sampler.choose(std::vector<float>{0, 0}, options, {});
  ASSERT_FALSE(token);
  EXPECT_EQ(token.error().code, ErrorCode::kInvalidArgument);
}

TEST(Sampler, SurvivesTheGreatestLogits) {
  constexpr float kMost = std::numeric_limits<float>::max();
  Sampler sampler(3);
  SampleOptions options;
  options.repeat_penalty = 0.001;
  options.top_k = 0;
  EXPECT_EQ(*sampler.choose(std::vector<float>{kMost, -kMost, 0}, options, std::vector<Token>{0, 1}), 0);
}

TEST(Sampler, GivesLogProbabilitiesOfTheRawLogits) {
  const auto logits = random_logits(200, 21, 6);
  const double lse = Sampler::log_sum_exp(logits);
  long double sum = 0;
  for (const float l : logits) sum += std::exp(static_cast<long double>(l));
  EXPECT_NEAR(lse, static_cast<double>(std::log(sum)), 1e-12);
  Sampler sampler(200);
  const auto best = sampler.best(logits, lse, 5);
  ASSERT_EQ(best.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_DOUBLE_EQ(best[i].logprob, logits[static_cast<std::size_t>(best[i].token)] - lse);
    if (i == 0) continue;
    EXPECT_LE(best[i].logprob, best[i - 1].logprob);
    EXPECT_TRUE(best[i].logprob < best[i - 1].logprob || best[i].token > best[i - 1].token);
  }
  EXPECT_EQ(best[0].logprob, *std::max_element(logits.begin(), logits.end()) - lse);
  EXPECT_TRUE(sampler.best(logits, lse, 0).empty());
  EXPECT_EQ(sampler.best(logits, lse, 1000).size(), 200u);
}

TEST(SampleOptions, AreThoseOfLlamaCpp) {
  const SampleOptions options;
  EXPECT_EQ(options.temp, 0.8);
  EXPECT_EQ(options.top_k, 40);
  EXPECT_EQ(options.top_p, 0.95);
  EXPECT_EQ(options.min_p, 0.05);
  EXPECT_EQ(options.repeat_penalty, 1.0);
  EXPECT_EQ(options.repeat_last_n, 64);
}

TEST(SampleOptions, AreRefusedByFieldValueAndRange) {
  struct Case {
    std::function<void(SampleOptions&)> spoil;
    const char* message;
  };
  const Case cases[] = {
      {[](SampleOptions& o) { o.temp = kNan; }, "temp is nan, wanted -1000 to 1000"},
      {[](SampleOptions& o) { o.temp = 1e9; }, "temp is 1000000000, wanted"},
      {[](SampleOptions& o) { o.top_p = 1.5; }, "top_p is 1.5, wanted 0 to 1"},
      {[](SampleOptions& o) { o.min_p = -0.1; }, "min_p is -0.1, wanted 0 to 1"},
      {[](SampleOptions& o) { o.repeat_penalty = 0; }, "repeat_penalty is 0, wanted 0.001 to 1000"},
      {[](SampleOptions& o) { o.presence_penalty = kInfinity; }, "presence_penalty is inf"},
      {[](SampleOptions& o) { o.frequency_penalty = kNan; }, "frequency_penalty is nan"},
      {[](SampleOptions& o) { o.repeat_last_n = -2; }, "repeat_last_n is -2"},
      {[](SampleOptions& o) {
         o.logit_bias = {{100, 1}};
       },
       "logit_bias names token 100, wanted 0 to 99"},
      {[](SampleOptions& o) {
         o.logit_bias = {{-1, 1}};
       },
       "logit_bias names token -1"},
      {[](SampleOptions& o) {
         o.logit_bias = {{5, kNan}};
       },
       "logit_bias of token 5 is nan"},
      {[](SampleOptions& o) {
         o.logit_bias = {{5, kInfinity}};
       },
       "logit_bias of token 5 is inf"},
  };
  for (const Case& c : cases) {
    SampleOptions options;
    c.spoil(options);
    const auto checked = check_sampling(options, 100);
    ASSERT_FALSE(checked) << c.message;
    EXPECT_EQ(checked.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(checked.error().message, HasSubstr(c.message));
  }
}

}  // namespace
}  // namespace plait
