// Perplexity: -ln p(token i + 1 | tokens 0 .. i of the window), in double.
#include "examine/perplexity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace plait {
namespace {

double nll_of(std::span<const float> logits, Token target) {
  const double top = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - top);
  return top + std::log(sum) - static_cast<double>(logits[static_cast<std::size_t>(target)]);
}

// Sum over the targets window[first], ..., window[last].
Result<double> window_nll(Session& session, std::span<const Token> window, int first) {
  Cache& cache = session.stepper.cache();
  Sequence* sequence = cache.open(window);
  double sum = 0;
  const int total = static_cast<int>(window.size());
  for (int done = 0; done < total;) {
    const int count = std::min(session.stepper.max_tokens(), total - done);
    const Work work{.sequence = sequence, .count = count, .all_outputs = true};
    const auto score = [&](int index, std::span<float> logits) {
      const int target = done + index + 1;
      if (target >= first && target < total) sum += nll_of(logits, window[static_cast<std::size_t>(target)]);
    };
    if (Result<void> stepped = session.stepper.step({&work, 1}, score); !stepped) return fail(stepped.error());
    cache.commit(sequence, count);
    done += count;
  }
  cache.close(sequence);
  return sum;
}

}  // namespace

Result<Perplexity> perplexity(Session& session, std::span<const Token> tokens, const PerplexityOptions& options,
                              const std::function<void(int, int)>& progress) {
  const int total = static_cast<int>(tokens.size());
  if (total < options.window) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("the text has {} tokens, wanted at least one window of {}", total, options.window));
  }
  if (Result<void> checked = check_ids(tokens, session.spec().vocabulary); !checked) return fail(checked.error());
  const int windows = (total - options.window) / options.stride + 1;
  Perplexity result{.tokens = total};
  double sum = 0;
  for (int i = 0; i < windows; ++i) {
    const auto window = tokens.subspan(static_cast<std::size_t>(i) * static_cast<std::size_t>(options.stride),
                                       static_cast<std::size_t>(options.window));
    const int first = i == 0 ? 1 : std::max(1, options.window - options.stride);
    const Result<double> nll = window_nll(session, window, first);
    if (!nll) return fail(nll.error());
    if (!std::isfinite(*nll))
      return fail(ErrorCode::kCorrupt, fmt::format("window {} has logits that are not finite", i));
    sum += *nll;
    result.scored += options.window - first;
    if (progress) progress(i + 1, windows);
  }
  result.nll = sum / result.scored;
  result.perplexity = std::exp(result.nll);
  return result;
}

}  // namespace plait
