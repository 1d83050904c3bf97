// Metrics: counting what a server has done, and the page that Prometheus reads (text format 0.0.4).
#include "server/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/utf8.h"
#include "server/service.h"

namespace plait {
namespace {

constexpr double kFirstToken[] = {0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75,
                                  1,     2.5,   5,    7.5,  10,   20,   40,   80,  160,  640};
constexpr double kToken[] = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3,
                             0.4,   0.5,    0.75,  1,    2.5,   5,    7.5,   10,  20,   40,  80};
constexpr double kWhole[] = {0.01, 0.1, 0.3, 0.5, 0.8, 1,   1.5, 2,   2.5, 5,    10,  15,
                             20,   30,  40,  50,  60,  120, 240, 480, 960, 1920, 7680};
constexpr double kTokens[] = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000};

// vLLM's names, in the order of FinishReason.
constexpr std::string_view kReasons[] = {"stop", "length", "abort", "error"};

// Lines of a metric; `labels` is what all of them have.
class Page {
 public:
  explicit Page(std::string labels) : labels_(std::move(labels)) {}

  void head(std::string_view name, std::string_view type, std::string_view help) {
    line("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  }
  template <class Number>
  void value(std::string_view name, Number number, std::string_view more_labels = {}) {
    line("{}{{{}{}{}}} {}\n", name, labels_, more_labels.empty() ? "" : ",", more_labels, number);
  }
  template <class Number>
  void one(std::string_view name, std::string_view type, std::string_view help, Number number) {
    head(name, type, help);
    value(name, number);
  }
  void histogram(std::string_view name, std::string_view help, const Histogram& values) {
    head(name, "histogram", help);
    values.print(text_, name, labels_);
  }
  std::string take() { return std::move(text_); }

 private:
  template <class... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
  }

  std::string labels_, text_;
};

void print_engine(Page& page, const EngineStats& engine) {
  page.one("vllm:num_requests_running", "gauge", "Requests that are being computed.", engine.running);
  page.one("vllm:num_requests_waiting", "gauge", "Requests that wait to be computed.", engine.waiting);
  const double used = static_cast<double>(engine.cache_used_bytes);
  page.one("vllm:kv_cache_usage_perc", "gauge", "Share of the memory for sequences that is used, 0 to 1.",
           engine.cache_bytes > 0 ? used / static_cast<double>(engine.cache_bytes) : 0.0);
  page.one("vllm:prefix_cache_queries_total", "counter", "Tokens of prompts that were looked for in the cache.",
           engine.prompt_tokens);
  page.one("vllm:prefix_cache_hits_total", "counter", "Of those, found and not computed again.", engine.reused_tokens);
  page.one("vllm:prompt_tokens_total", "counter", "Tokens of prompts that were computed or reused.",
           engine.prompt_tokens);
  page.one("vllm:generation_tokens_total", "counter", "Tokens generated.", engine.generated_tokens);
  page.one("vllm:num_preemptions_total", "counter", "Times that a request gave its memory to others.", engine.pauses);
  page.one("plait:computed_tokens_total", "counter", "Tokens computed, for the first time or again.",
           engine.computed_tokens);
  page.head("plait:recomputed_tokens_total", "counter", "Tokens computed again, by why they had to be.");
  page.value("plait:recomputed_tokens_total", engine.recomputed_tokens, "reason=\"evicted\"");
  page.one("plait:steps_total", "counter", "Passes over the model.", engine.steps);
}

}  // namespace

Histogram::Histogram(std::span<const double> bounds) : bounds_(bounds.first(std::min(bounds.size(), kMost))) {}

void Histogram::add(double value) {
  const auto at = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
  counts_[static_cast<std::size_t>(at)].fetch_add(1, std::memory_order_relaxed);
  for (double sum = sum_; !sum_.compare_exchange_weak(sum, sum + value);) {
  }
}

void Histogram::print(std::string& out, std::string_view name, std::string_view labels) const {
  const auto to = std::back_inserter(out);
  const char* comma = labels.empty() ? "" : ",";
  std::uint64_t total = 0;
  for (std::size_t i = 0; i <= bounds_.size(); ++i) {
    total += counts_[i].load(std::memory_order_relaxed);
    const std::string bound = i < bounds_.size() ? fmt::format("{}", bounds_[i]) : "+Inf";
    fmt::format_to(to, "{}_bucket{{{}{}le=\"{}\"}} {}\n", name, labels, comma, bound, total);
  }
  const std::string braced = labels.empty() ? std::string() : fmt::format("{{{}}}", labels);
  fmt::format_to(to, "{}_sum{} {}\n{}_count{} {}\n", name, braced, sum_.load(), name, braced, total);
}

Metrics::Metrics()
    : first_token_(kFirstToken),
      between_tokens_(kToken),
      token_time_(kToken),
      whole_time_(kWhole),
      queue_time_(kWhole),
      prompt_tokens_(kTokens),
      generated_tokens_(kTokens) {}

void Metrics::finished(FinishReason reason, const Usage& usage, double seconds) {
  ++finished_[static_cast<std::size_t>(reason)];
  whole_time_.add(seconds);
  queue_time_.add(usage.queue_s);
  prompt_tokens_.add(usage.prompt_tokens);
  generated_tokens_.add(usage.generated_tokens);
  if (usage.first_token_s > 0) first_token_.add(usage.first_token_s);
  if (usage.decode_tokens_per_s > 0) token_time_.add(1 / usage.decode_tokens_per_s);
}

void Metrics::between_tokens(double seconds) { between_tokens_.add(seconds); }

void Metrics::replied(int status) {
  if (status >= 0 && status < static_cast<int>(replied_.size())) ++replied_[static_cast<std::size_t>(status)];
}

std::string Metrics::text(const EngineStats& engine, std::string_view model_name) const {
  Page page(fmt::format("model_name=\"{}\"", label_value(model_name)));
  print_engine(page, engine);
  page.head("vllm:request_success_total", "counter", "Answers that have ended, by how.");
  for (std::size_t i = 0; i < finished_.size(); ++i)
    page.value("vllm:request_success_total", finished_[i].load(), fmt::format("finished_reason=\"{}\"", kReasons[i]));
  page.histogram("vllm:time_to_first_token_seconds", "From a request to its first token.", first_token_);
  page.histogram("vllm:inter_token_latency_seconds", "From one token of an answer to its next.", between_tokens_);
  page.histogram("vllm:time_per_output_token_seconds", "The same under its older name.", between_tokens_);
  page.histogram("vllm:request_time_per_output_token_seconds", "The mean of an answer's times between tokens.",
                 token_time_);
  page.histogram("vllm:e2e_request_latency_seconds", "From a request to the end of its answer.", whole_time_);
  page.histogram("vllm:request_queue_time_seconds", "From a request until work on it began.", queue_time_);
  page.histogram("vllm:request_prompt_tokens", "Tokens of a prompt.", prompt_tokens_);
  page.histogram("vllm:request_generation_tokens", "Tokens of an answer.", generated_tokens_);
  page.head("plait:http_requests_total", "counter", "HTTP requests that were answered, by status.");
  for (std::size_t code = 0; code < replied_.size(); ++code) {
    const std::uint64_t count = replied_[code].load();
    if (count > 0 || code == 200) page.value("plait:http_requests_total", count, fmt::format("code=\"{}\"", code));
  }
  return page.take();
}

std::string label_value(std::string_view text) {
  std::string escaped;
  for (const char c : replace_invalid_utf8(text)) {
    if (c == '\\' || c == '"') escaped += '\\';
    if (c == '\n') {
      escaped += "\\n";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

void add_metrics_routes(Router& router, Service& service) {
  router.add("GET", "/metrics", [&service](const HttpRequest&, Reply& reply) {
    reply.send(200, "text/plain; version=0.0.4; charset=utf-8",
               service.metrics.text(service.engine.stats(), service.model_name));
  });
}

}  // namespace plait
