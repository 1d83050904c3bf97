// Metrics: counting what a server has done.
#include "server/metrics.h"

#include <algorithm>

namespace plait {
namespace {

constexpr double kSeconds[] = {0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1,  0.25, 0.5,
                               0.75,  1.0,   2.5,  5.0,  7.5,  10.0, 20.0, 40.0, 80.0};
constexpr double kTokens[] = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000};

}  // namespace

Histogram::Histogram(std::span<const double> bounds) : bounds_(bounds.first(std::min(bounds.size(), kMost))) {}

void Histogram::add(double value) {
  const auto at = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
  counts_[static_cast<std::size_t>(at)].fetch_add(1, std::memory_order_relaxed);
  for (double sum = sum_; !sum_.compare_exchange_weak(sum, sum + value);) {
  }
}

Metrics::Metrics()
    : first_token_(kSeconds),
      token_time_(kSeconds),
      whole_time_(kSeconds),
      queue_time_(kSeconds),
      prompt_tokens_(kTokens),
      generated_tokens_(kTokens) {}

void Metrics::finished(FinishReason reason, const Usage& usage) {
  ++finished_[static_cast<std::size_t>(reason)];
  queue_time_.add(usage.queue_s);
  prompt_tokens_.add(usage.prompt_tokens);
  generated_tokens_.add(usage.generated_tokens);
  if (usage.first_token_s > 0) first_token_.add(usage.first_token_s);
  if (usage.decode_tokens_per_s > 0) token_time_.add(1 / usage.decode_tokens_per_s);
}

void Metrics::replied(int status) {
  if (status >= 0 && status < static_cast<int>(replied_.size())) ++replied_[static_cast<std::size_t>(status)];
}

}  // namespace plait
