// Sampler: bias, penalties, top-k, top-p, min-p, temperature, and a draw.
#include "decode/sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/random.h"

namespace plait {
namespace {

constexpr float kMost = std::numeric_limits<float>::max();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Index of the first logit that is NaN or infinite, or -1.
int find_not_finite(std::span<const float> logits) {
  constexpr std::uint32_t kMagnitude = 0x7fffffffu, kInfinityBits = 0x7f800000u;
  std::uint32_t greatest = 0;  // The common case, in one loop without branches.
  for (const float logit : logits) greatest = std::max(greatest, std::bit_cast<std::uint32_t>(logit) & kMagnitude);
  if (greatest < kInfinityBits) return -1;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (!std::isfinite(logits[i])) return static_cast<int>(i);
  }
  return -1;
}

// Minus infinity stays: it means "never".
float rounded(double logit) {
  if (logit == -kInfinity) return -std::numeric_limits<float>::infinity();
  return static_cast<float>(std::clamp(logit, -static_cast<double>(kMost), static_cast<double>(kMost)));
}

Result<void> check_finite(std::span<const float> logits, std::size_t position) {
  const int bad = find_not_finite(logits);
  if (bad < 0) return {};
  return fail(ErrorCode::kCorrupt,
              fmt::format("the logit of token {} at position {} is {}, not a number to sample from", bad, position,
                          logits[static_cast<std::size_t>(bad)]));
}

struct Range {
  const char* field;
  double value, low, high;
};

}  // namespace

Result<void> check_sampling(const SampleOptions& options, int vocabulary) {
  const Range ranges[] = {{"temp", options.temp, -1000, 1000},
                          {"top_p", options.top_p, 0, 1},
                          {"min_p", options.min_p, 0, 1},
                          {"repeat_penalty", options.repeat_penalty, 0.001, 1000},
                          {"presence_penalty", options.presence_penalty, -1000, 1000},
                          {"frequency_penalty", options.frequency_penalty, -1000, 1000}};
  for (const Range& r : ranges) {
    if (!(r.value >= r.low && r.value <= r.high))  // NaN is refused too.
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("{} is {}, wanted {} to {}", r.field, r.value, r.low, r.high));
  }
  if (options.repeat_last_n < -1)
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("repeat_last_n is {}, wanted -1 (all), 0 (none) or a count", options.repeat_last_n));
  for (const TokenBias& bias : options.logit_bias) {
    if (bias.token < 0 || bias.token >= vocabulary)
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("logit_bias names token {}, wanted 0 to {}", bias.token, vocabulary - 1));
    if (!(bias.bias == -kInfinity || std::abs(bias.bias) <= 1e6))
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("logit_bias of token {} is {}, wanted -1e6 to 1e6 or -inf", bias.token, bias.bias));
  }
  return {};
}

Sampler::Sampler(int vocabulary) {
  const auto size = static_cast<std::size_t>(vocabulary);
  logits_.resize(size);
  candidates_.reserve(size);
  weights_.reserve(size);
  counts_.assign(size, 0);
}

bool Sampler::before(const Candidate& a, const Candidate& b) {
  return a.logit > b.logit || (a.logit == b.logit && a.token < b.token);
}

void Sampler::penalize(const SampleOptions& options, std::span<const Token> history) {
  if (options.repeat_penalty == 1.0 && options.presence_penalty == 0 && options.frequency_penalty == 0) return;
  const std::size_t window = options.repeat_last_n < 0
                                 ? history.size()
                                 : std::min(history.size(), static_cast<std::size_t>(options.repeat_last_n));
  const std::span<const Token> last = history.last(window);
  for (const Token token : last) ++counts_[static_cast<std::size_t>(token)];
  for (const Token token : last) {
    int& count = counts_[static_cast<std::size_t>(token)];
    if (count == 0) continue;  // Done at its first place.
    float& logit = logits_[static_cast<std::size_t>(token)];
    double l = logit;
    l = l > 0 ? l / options.repeat_penalty : l * options.repeat_penalty;
    l -= static_cast<double>(count) * options.frequency_penalty + options.presence_penalty;
    logit = rounded(l);
    count = 0;
  }
}

// Leaves the `count` first tokens in candidates_, in order. Tokens of minus infinity are none.
void Sampler::keep_best(std::span<const float> logits, int count) {
  candidates_.clear();
  const auto most = static_cast<std::size_t>(count);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    // A heap with the last candidate at its front. Ids ascend, so an equal logit comes after and is left out.
    if (candidates_.size() == most && !(logits[i] > candidates_.front().logit)) continue;
    if (logits[i] == -std::numeric_limits<float>::infinity()) continue;
    if (candidates_.size() == most) {
      std::pop_heap(candidates_.begin(), candidates_.end(), before);
      candidates_.pop_back();
    }
    candidates_.push_back({logits[i], static_cast<Token>(i)});
    if (most < logits.size()) std::push_heap(candidates_.begin(), candidates_.end(), before);
  }
  std::sort(candidates_.begin(), candidates_.end(), before);
}

// How many candidates top-p and min-p leave; at least one. weights_ are exp(l - l[0]).
std::size_t Sampler::truncate(const SampleOptions& options) {
  const double top = candidates_.front().logit;
  weights_.clear();
  for (const Candidate& c : candidates_) weights_.push_back(std::exp(static_cast<double>(c.logit) - top));
  std::size_t kept = weights_.size();
  if (options.top_p < 1) {
    double sum = 0;
    for (const double weight : weights_) sum += weight;
    double running = 0;
    for (std::size_t i = 0; i < kept; ++i) {
      running += weights_[i];
      if (running >= options.top_p * sum) kept = i + 1;
    }
  }
  while (kept > 1 && weights_[kept - 1] < options.min_p) --kept;
  return kept;
}

Result<Token> Sampler::choose(std::span<const float> logits, const SampleOptions& options,
                              std::span<const Token> history) {
  check(logits.size() == logits_.size(), "a row of logits has the vocabulary's width");
  if (auto checked = check_finite(logits, history.size()); !checked) return fail(checked.error());
  std::copy(logits.begin(), logits.end(), logits_.begin());
  for (const TokenBias& bias : options.logit_bias) {
    float& logit = logits_[static_cast<std::size_t>(bias.token)];
    logit = rounded(static_cast<double>(logit) + bias.bias);
  }
  penalize(options, history);

  const bool greedy = !(options.temp > 0);
  const int vocabulary = static_cast<int>(logits_.size());
  keep_best(logits_, greedy ? 1 : options.top_k > 0 ? std::min(options.top_k, vocabulary) : vocabulary);
  if (candidates_.empty())
    return fail(ErrorCode::kInvalidArgument, "logit_bias leaves no token to choose: all are minus infinity");
  if (candidates_.size() == 1) return candidates_.front().token;

  const std::size_t kept = truncate(options);
  const double top = candidates_.front().logit;
  double sum = 0;
  for (std::size_t i = 0; i < kept; ++i) {
    weights_[i] = std::exp((static_cast<double>(candidates_[i].logit) - top) / options.temp);
    sum += weights_[i];
  }
  const double target = random_unit(options.seed, history.size()) * sum;
  double running = 0;
  for (std::size_t i = 0; i + 1 < kept; ++i) {
    running += weights_[i];
    if (running > target) return candidates_[i].token;
  }
  return candidates_[kept - 1].token;
}

double Sampler::log_sum_exp(std::span<const float> logits) {
  double top = -kInfinity;
  for (const float logit : logits) top = std::max(top, static_cast<double>(logit));
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - top);
  return top + std::log(sum);
}

std::vector<ScoredToken> Sampler::best(std::span<const float> logits, double log_sum_exp, int count) {
  std::vector<ScoredToken> scored;
  if (count <= 0) return scored;
  keep_best(logits, std::min(count, static_cast<int>(logits.size())));
  for (const Candidate& c : candidates_) scored.push_back({c.token, static_cast<double>(c.logit) - log_sum_exp});
  return scored;
}

Result<ScoredChoice> Sampler::score(std::span<const float> logits, Token token, int count, int position) {
  if (auto checked = check_finite(logits, static_cast<std::size_t>(position)); !checked) return fail(checked.error());
  const double total = log_sum_exp(logits);
  return ScoredChoice{static_cast<double>(logits[static_cast<std::size_t>(token)]) - total, best(logits, total, count)};
}

}  // namespace plait
