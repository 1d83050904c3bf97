// Metrics: counters and histograms of a running server, in Prometheus' text format under vLLM's names.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "plait/engine.h"

namespace plait {

// Counts into buckets by upper bound; any thread may add.
class Histogram {
 public:
  explicit Histogram(std::span<const double> bounds);  // At most kMost, ascending; they outlive the histogram.
  void add(double value);
  // Lines of `name_bucket`, `name_sum`, `name_count`. Labels as `a="b",c="d"`, or empty.
  void print(std::string& out, std::string_view name, std::string_view labels) const;

 private:
  static constexpr std::size_t kMost = 24;
  std::span<const double> bounds_;
  std::array<std::atomic<std::uint64_t>, kMost + 1> counts_{};
  std::atomic<double> sum_{0};
};

class Metrics {
 public:
  Metrics();
  // One answer has ended, so long after it was asked for.
  void finished(FinishReason reason, const Usage& usage, double seconds);
  void between_tokens(double seconds);  // From one token of an answer to its next.
  void replied(int status);             // One HTTP request was answered.
  std::string text(const EngineStats& engine, std::string_view model_name) const;

 private:
  Histogram first_token_, between_tokens_, token_time_, whole_time_, queue_time_, prompt_tokens_, generated_tokens_;
  std::array<std::atomic<std::uint64_t>, 4> finished_{};
  std::array<std::atomic<std::uint64_t>, 600> replied_{};
};

// What may stand between the quotes of a label's value: valid UTF-8, with \, " and line ends escaped.
std::string label_value(std::string_view text);

}  // namespace plait
