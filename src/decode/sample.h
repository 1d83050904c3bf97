// Sampler: from a row of logits to a token.
//
// The order of float operations is fixed, so that a token depends on nothing but its arguments:
//  1. Each bias is added to its logit, in the given order: in double, rounded to float.
//  2. Penalties, for each token among the last repeat_last_n: l = l > 0 ? l / repeat : l * repeat, then
//     l = l - (count * frequency + presence); in double, rounded to float, infinities become the greatest float.
//  3. temp <= 0: the greatest l, the lowest id among equals. Otherwise tokens are put in order, greatest l first,
//     lowest id first among equals; the first top_k stay. All that follows is in double, over tokens in that order.
//  4. top_p: weights exp(l - l[0]); the shortest beginning whose sum is at least top_p times the sum of all stays.
//  5. min_p: those with exp(l - l[0]) >= min_p stay.
//  6. The first token whose running sum of exp((l - l[0]) / temp) is beyond random_unit(seed, position) times the sum.
#pragma once

#include <span>
#include <vector>

#include "base/token.h"
#include "plait/engine.h"
#include "plait/result.h"

namespace plait {

// Fails with the field, its value and its range.
Result<void> check_sampling(const SampleOptions& options, int vocabulary);

// Holds scratch memory, so that choosing allocates nothing; one thread at a time.
class Sampler {
 public:
  explicit Sampler(int vocabulary);

  // The token that follows `history`, all tokens so far; its length is the position that the random number depends on.
  // The options have passed check_sampling. Fails on logits that are NaN or infinite, and where every token has a bias
  // of minus infinity.
  Result<Token> choose(std::span<const float> logits, const SampleOptions& options, std::span<const Token> history);

  // Log-softmax of finite logits, in double, summed by ascending id.
  static double log_sum_exp(std::span<const float> logits);
  // The `count` best tokens with their log-probabilities, best first, lowest id first among equals.
  std::vector<ScoredToken> best(std::span<const float> logits, double log_sum_exp, int count);
  // The log-probability of `token`, which stands at that position, and the `count` best. Fails as choose() does.
  Result<ScoredChoice> score(std::span<const float> logits, Token token, int count, int position);

 private:
  struct Candidate {
    float logit;
    Token token;
  };
  static bool before(const Candidate& a, const Candidate& b);
  void penalize(const SampleOptions& options, std::span<const Token> history);
  void keep_best(std::span<const float> logits, int count);
  std::size_t truncate(const SampleOptions& options);

  std::vector<float> logits_;
  std::vector<Candidate> candidates_;
  std::vector<double> weights_;
  std::vector<int> counts_;  // By token; all zero between calls.
};

}  // namespace plait
