// Choosing a token the slow and obvious way: whole vocabularies are copied and sorted, nothing is kept between calls.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/random.h"
#include "plait/engine.h"

namespace plait {

struct ReferenceChoice {
  Token token = -1;
  std::vector<Token> kept;            // In order.
  std::vector<double> probabilities;  // Of those, summing to one.
};

inline float reference_round(double logit) {
  const double most = std::numeric_limits<float>::max();
  if (std::isinf(logit) && logit < 0) return -std::numeric_limits<float>::infinity();
  return static_cast<float>(std::min(std::max(logit, -most), most));
}

// The steps of decode/sample.h, one after the other. None if every token is banned.
inline std::optional<ReferenceChoice> reference_choose(std::span<const float> logits, const SampleOptions& options,
                                                       const std::vector<Token>& history) {
  std::vector<float> l(logits.begin(), logits.end());
  for (const TokenBias& bias : options.logit_bias) {
    float& logit = l[static_cast<std::size_t>(bias.token)];
    logit = reference_round(static_cast<double>(logit) + bias.bias);
  }
  std::vector<Token> window = history;
  if (options.repeat_last_n >= 0) {
    while (window.size() > static_cast<std::size_t>(options.repeat_last_n)) window.erase(window.begin());
  }
  for (std::size_t t = 0; t < l.size(); ++t) {
    const auto count = std::count(window.begin(), window.end(), static_cast<Token>(t));
    if (count == 0) continue;
    double x = l[t];
    x = x > 0 ? x / options.repeat_penalty : x * options.repeat_penalty;
    x -= static_cast<double>(count) * options.frequency_penalty + options.presence_penalty;
    l[t] = reference_round(x);
  }
  ReferenceChoice choice;
  for (std::size_t t = 0; t < l.size(); ++t) {
    if (!std::isinf(l[t])) choice.kept.push_back(static_cast<Token>(t));
  }
  if (choice.kept.empty()) return std::nullopt;
  std::stable_sort(choice.kept.begin(), choice.kept.end(),
                   [&](Token a, Token b) { return l[static_cast<std::size_t>(a)] > l[static_cast<std::size_t>(b)]; });
  auto at = [&](std::size_t i) { return static_cast<double>(l[static_cast<std::size_t>(choice.kept[i])]); };
  auto keep = [&](std::size_t count) { choice.kept.resize(std::max<std::size_t>(1, count)); };
  if (options.temp <= 0) keep(1);
  if (options.top_k > 0) keep(std::min(choice.kept.size(), static_cast<std::size_t>(options.top_k)));
  if (options.top_p < 1) {
    double sum = 0, running = 0;
    for (std::size_t i = 0; i < choice.kept.size(); ++i) sum += std::exp(at(i) - at(0));
    std::size_t count = 0;
    while (count < choice.kept.size()) {
      running += std::exp(at(count) - at(0));
      ++count;
      if (running >= options.top_p * sum) break;
    }
    keep(count);
  }
  std::size_t likely = 0;
  while (likely < choice.kept.size() && std::exp(at(likely) - at(0)) >= options.min_p) ++likely;
  keep(likely);
  if (options.temp <= 0) {
    choice.token = choice.kept.front();
    choice.probabilities = {1.0};
    return choice;
  }
  double sum = 0;
  for (std::size_t i = 0; i < choice.kept.size(); ++i) sum += std::exp((at(i) - at(0)) / options.temp);
  const double target = random_unit(options.seed, history.size()) * sum;
  double running = 0;
  for (std::size_t i = 0; i < choice.kept.size(); ++i) {
    const double weight = std::exp((at(i) - at(0)) / options.temp);
    choice.probabilities.push_back(weight / sum);
    running += weight;
    if (choice.token < 0 && running > target) choice.token = choice.kept[i];
  }
  if (choice.token < 0) choice.token = choice.kept.back();
  return choice;
}

}  // namespace plait
