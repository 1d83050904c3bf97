// Metrics: what Prometheus reads, by name and number; and that the route tells of what was really done.
#include "server/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>

#include "server/generate.h"
#include "server/served.h"

namespace plait {
namespace {

using test::FakeReply;
using testing::HasSubstr;

// Every line must be one of the three forms of the text format 0.0.4; gives samples by name and labels.
std::map<std::string, double> samples_of(const std::string& text) {
  static const std::regex help(R"(# HELP [a-zA-Z_:][a-zA-Z0-9_:]* [^\n]+)");
  static const std::regex type(R"(# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram))");
  static const std::regex sample(
      R"(([a-zA-Z_:][a-zA-Z0-9_:]*)(\{([a-z_]+="([^"\\\n]|\\["\\n])*",?)*\})? ([0-9.e+-]+))");
  std::map<std::string, double> samples;
  std::string family;
  EXPECT_TRUE(text.ends_with("\n"));
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    std::smatch found;
    if (std::regex_match(line, found, type)) {
      family = found[1];
    } else if (!std::regex_match(line, help)) {
      EXPECT_TRUE(std::regex_match(line, found, sample)) << line;
      EXPECT_TRUE(line.starts_with(family)) << line << " stands under " << family;
      const std::size_t space = line.rfind(' ');
      EXPECT_TRUE(samples.emplace(line.substr(0, space), std::stod(line.substr(space))).second) << line;
    }
  }
  return samples;
}

Usage some_usage() {
  Usage usage;
  usage.prompt_tokens = 30;
  usage.generated_tokens = 11;
  usage.first_token_s = 0.03;
  usage.decode_tokens_per_s = 50;
  usage.queue_s = 0.2;
  return usage;
}

TEST(Metrics, TellWhatWasCountedUnderTheNamesOfVllm) {
  Metrics metrics;
  metrics.finished(FinishReason::kStop, some_usage(), 0.25);
  metrics.finished(FinishReason::kCancel, some_usage(), 100);
  metrics.between_tokens(0.02);
  metrics.between_tokens(0.03);
  for (const int status : {200, 200, 429, 9999, -1}) metrics.replied(status);
  EngineStats engine;
  engine.running = 3, engine.waiting = 2;
  engine.cache_bytes = 1000, engine.cache_used_bytes = 250;
  engine.prompt_tokens = 60, engine.reused_tokens = 20, engine.generated_tokens = 22;
  engine.computed_tokens = 70, engine.recomputed_tokens = 8, engine.steps = 12, engine.pauses = 1;
  auto samples = samples_of(metrics.text(engine, "m"));
  const std::map<std::string, double> expected = {
      {R"(vllm:num_requests_running{model_name="m"})", 3},
      {R"(vllm:num_requests_waiting{model_name="m"})", 2},
      {R"(vllm:kv_cache_usage_perc{model_name="m"})", 0.25},
      {R"(vllm:prefix_cache_queries_total{model_name="m"})", 60},
      {R"(vllm:prefix_cache_hits_total{model_name="m"})", 20},
      {R"(vllm:prompt_tokens_total{model_name="m"})", 60},
      {R"(vllm:generation_tokens_total{model_name="m"})", 22},
      {R"(vllm:num_preemptions_total{model_name="m"})", 1},
      {R"(plait:computed_tokens_total{model_name="m"})", 70},
      {R"(plait:recomputed_tokens_total{model_name="m",reason="evicted"})", 8},
      {R"(plait:steps_total{model_name="m"})", 12},
      {R"(vllm:request_success_total{model_name="m",finished_reason="stop"})", 1},
      {R"(vllm:request_success_total{model_name="m",finished_reason="length"})", 0},
      {R"(vllm:request_success_total{model_name="m",finished_reason="abort"})", 1},
      {R"(vllm:request_success_total{model_name="m",finished_reason="error"})", 0},
      {R"(vllm:time_to_first_token_seconds_bucket{model_name="m",le="0.02"})", 0},
      {R"(vllm:time_to_first_token_seconds_bucket{model_name="m",le="0.04"})", 2},
      {R"(vllm:inter_token_latency_seconds_bucket{model_name="m",le="0.025"})", 1},
      {R"(vllm:inter_token_latency_seconds_count{model_name="m"})", 2},
      {R"(vllm:time_per_output_token_seconds_count{model_name="m"})", 2},
      {R"(vllm:request_time_per_output_token_seconds_sum{model_name="m"})", 0.04},
      {R"(vllm:e2e_request_latency_seconds_sum{model_name="m"})", 100.25},
      {R"(vllm:e2e_request_latency_seconds_bucket{model_name="m",le="60"})", 1},
      {R"(vllm:e2e_request_latency_seconds_bucket{model_name="m",le="+Inf"})", 2},
      {R"(vllm:request_queue_time_seconds_sum{model_name="m"})", 0.4},
      {R"(vllm:request_prompt_tokens_bucket{model_name="m",le="20"})", 0},
      {R"(vllm:request_prompt_tokens_bucket{model_name="m",le="50"})", 2},
      {R"(vllm:request_generation_tokens_sum{model_name="m"})", 22},
      {R"(plait:http_requests_total{model_name="m",code="200"})", 2},
      {R"(plait:http_requests_total{model_name="m",code="429"})", 1}};
  for (const auto& [name, value] : expected) {
    ASSERT_TRUE(samples.contains(name)) << name;
    EXPECT_DOUBLE_EQ(samples[name], value) << name;
  }
}

TEST(Metrics, BeginWithZerosAndWithoutACache) {
  const std::string text = Metrics().text({}, "m");
  for (const auto& [name, value] : samples_of(text)) EXPECT_EQ(value, 0) << name;
  EXPECT_THAT(text, HasSubstr("plait:http_requests_total{model_name=\"m\",code=\"200\"} 0\n"));
}

TEST(Metrics, HaveEveryNameThatTheDashboardAsksFor) {
  std::ifstream file(PLAIT_SOURCE_DIR "/docs/grafana.json");
  const test::Json dashboard = test::Json::parse(file);
  const auto samples = samples_of(Metrics().text({}, "m"));
  const std::regex name("(vllm|plait):[a-z0-9_]+");
  int asked = 0;
  for (const test::Json& panel : dashboard.at("panels")) {
    for (const test::Json& target : panel.at("targets")) {
      const auto expression = target.at("expr").get<std::string>();
      for (std::sregex_iterator at(expression.begin(), expression.end(), name), end; at != end; ++at, ++asked) {
        const auto found = samples.lower_bound(at->str() + "{");
        EXPECT_TRUE(found != samples.end() && found->first.starts_with(at->str() + "{")) << at->str();
      }
    }
  }
  EXPECT_GT(asked, 20);
}

TEST(Metrics, EscapeTheNameOfTheModel) {
  EXPECT_EQ(label_value("a\\b\"c\nd"), "a\\\\b\\\"c\\nd");
  EXPECT_EQ(label_value("\xff"), "\xef\xbf\xbd");
  samples_of(Metrics().text({}, "C:\\models\\\"x\"\n{le=\"1\"} 5"));
}

TEST(Histogram, PutsAValueOnABoundBelowIt) {
  static constexpr double kBounds[] = {1, 2.5};
  Histogram histogram(kBounds);
  for (const double value : {0.5, 1.0, 2.0, 2.5, 3.0}) histogram.add(value);
  std::string out;
  histogram.print(out, "h", "");
  EXPECT_EQ(out,
            "h_bucket{le=\"1\"} 2\nh_bucket{le=\"2.5\"} 4\nh_bucket{le=\"+Inf\"} 5\n"
            "h_sum 9\nh_count 5\n");
}

TEST(MetricsRoute, TellsOfRequestsThatWereAnswered) {
  test::Served served({.pieces = {" one", " two", " three", " four"}}, add_metrics_routes);
  Request request;
  request.text = "Say it.";
  request.max_tokens = 3;
  FakeReply reply;
  std::vector<Request> requests(2, request);
  ASSERT_TRUE(generate(served.service, reply, requests, {}, {}));
  FakeReply page;
  served.ask(page, "GET", "/metrics");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.content_type, "text/plain; version=0.0.4; charset=utf-8");
  auto samples = samples_of(page.body);
  EXPECT_EQ(samples[R"(vllm:request_success_total{model_name="talker",finished_reason="length"})"], 2);
  EXPECT_EQ(samples[R"(vllm:generation_tokens_total{model_name="talker"})"], 6);
  EXPECT_EQ(samples[R"(vllm:inter_token_latency_seconds_count{model_name="talker"})"], 4);
  EXPECT_EQ(samples[R"(vllm:e2e_request_latency_seconds_count{model_name="talker"})"], 2);
  EXPECT_EQ(samples[R"(vllm:time_to_first_token_seconds_count{model_name="talker"})"], 2);
  EXPECT_EQ(samples[R"(vllm:num_requests_running{model_name="talker"})"], 0);
  EXPECT_EQ(samples[R"(vllm:prompt_tokens_total{model_name="talker"})"],
            samples[R"(vllm:request_prompt_tokens_sum{model_name="talker"})"]);
  EXPECT_GT(samples[R"(vllm:e2e_request_latency_seconds_sum{model_name="talker"})"], 0);
}

}  // namespace
}  // namespace plait
