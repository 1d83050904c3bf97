// EngineStats: what the core counts; and Request::on_event.
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

#include "engine/core_bench.h"

namespace plait {
namespace {

// A seed whose answer is as long as it may be.
Request long_request(std::uint64_t seed, int prompt_tokens, int max_tokens) {
  while (static_cast<int>(expected_of(request_of(seed, prompt_tokens, max_tokens), 256).tokens.size()) < max_tokens)
    seed += 1000;
  return request_of(seed, prompt_tokens, max_tokens);
}

TEST(EngineStats, CountTokensStepsAndMemory) {
  Bench bench({.step_tokens = 16});
  EXPECT_EQ(bench.core->stats().steps, 0u);
  EXPECT_EQ(bench.core->stats().cache_bytes, bench.model.cache->stats().budget_bytes);
  Stream stream = bench.submit(long_request(3, 40, 5));
  collect(stream);
  const EngineStats stats = bench.core->stats();
  EXPECT_EQ(stats.running, 0);
  EXPECT_EQ(stats.waiting, 0);
  EXPECT_EQ(stats.cache_used_bytes, 0u);
  EXPECT_EQ(stats.prompt_tokens, 40u);
  EXPECT_EQ(stats.reused_tokens, 0u);
  EXPECT_EQ(stats.computed_tokens, 44u);  // The last token's row nobody needs.
  EXPECT_EQ(stats.recomputed_tokens, 0u);
  EXPECT_EQ(stats.generated_tokens, 5u);
  EXPECT_EQ(stats.steps, 7u);  // Three for the prompt, of which the last gives a token.
  EXPECT_EQ(stats.pauses, 0u);
}

TEST(EngineStats, TellRunningAndWaitingWhileAStepIsUnderWay) {
  Bench bench({.max_sequences = 2});
  std::latch looked(1), entered(1);
  int steps = 0;
  bench.model.before_step = [&](auto) {
    if (++steps != 2) return;
    entered.count_down();
    looked.wait();
  };
  std::vector<Stream> streams;
  streams.push_back(bench.submit(long_request(1, 20, 30)));
  entered.wait();
  for (std::uint64_t seed = 2; seed < 5; ++seed) streams.push_back(bench.submit(long_request(seed, 20, 30)));
  const EngineStats stats = bench.core->stats();
  EXPECT_EQ(stats.running, 1);
  EXPECT_EQ(stats.waiting, 3);
  EXPECT_GT(stats.cache_used_bytes, 0u);
  EXPECT_LT(stats.cache_used_bytes, stats.cache_bytes);
  looked.count_down();
  for (Stream& stream : streams) collect(stream);
  EXPECT_EQ(bench.core->stats().running, 0);
  EXPECT_EQ(bench.core->stats().waiting, 0);
  EXPECT_EQ(bench.core->stats().generated_tokens, 120u);
}

TEST(EngineStats, CountPausesAndWhatIsComputedAgain) {
  Bench bench({.blocks = 14, .step_tokens = 32, .max_sequences = 4});
  std::latch submitted(1);  // All are there before the first step, so that two begin and cannot both end.
  bench.model.before_step = [&](auto) { submitted.wait(); };
  std::uint64_t prompts = 0, computed = 0, generated = 0;
  std::vector<Stream> streams;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    streams.push_back(bench.submit(long_request(seed, 60, 100)));
    prompts += 60, computed += 60 + 99, generated += 100;
  }
  submitted.count_down();
  for (Stream& stream : streams) collect(stream);
  const EngineStats stats = bench.core->stats();
  EXPECT_GT(stats.pauses, 0u);
  EXPECT_GT(stats.recomputed_tokens, 0u);
  EXPECT_EQ(stats.computed_tokens - stats.recomputed_tokens, computed);
  EXPECT_EQ(stats.prompt_tokens, prompts);
  EXPECT_EQ(stats.generated_tokens, generated);
  EXPECT_EQ(stats.waiting, 0);
}

TEST(EngineStats, MayBeReadFromAnyThread) {
  Bench bench({.blocks = 20, .queue_requests = 1000});
  std::atomic<bool> done{false};
  std::thread reader([&] {
    std::uint64_t before = 0;
    while (!done.load()) {
      const EngineStats stats = bench.core->stats();
      EXPECT_GE(stats.computed_tokens, before);
      EXPECT_GE(stats.running, 0);
      before = stats.computed_tokens;
    }
  });
  std::vector<Stream> streams;
  for (std::uint64_t seed = 0; seed < 40; ++seed) streams.push_back(bench.submit(request_of(seed, 30, 30)));
  for (std::size_t i = 0; i < streams.size(); i += 3) streams[i].cancel();
  for (Stream& stream : streams) collect(stream);
  done.store(true);
  reader.join();
  EXPECT_EQ(bench.core->stats().running, 0);
  EXPECT_EQ(bench.core->stats().waiting, 0);
}

TEST(OnEvent, IsCalledBeforeAnEventCanBeTakenAndNotAfterTheLast) {
  Bench bench({});
  std::atomic<int> called{0};
  Request request = request_of(3, 100, 30);
  request.on_event = [&] { called.fetch_add(1); };
  Stream stream = bench.submit(request);
  int taken = 0;
  while (auto event = stream.next()) {
    ++taken;
    EXPECT_GE(called.load(), taken);
  }
  EXPECT_EQ(called.load(), taken);
  Stream other = bench.submit(request_of(4, 100, 30));
  collect(other);  // The engine goes on, and says no more of the first.
  EXPECT_EQ(called.load(), taken);
}

// What the callback uses is gone as soon as the last event was read: the address and thread sanitizers watch.
TEST(OnEvent, IsOverWhenTheLastEventHasBeenRead) {
  Bench bench({.queue_requests = 1000});
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    auto bell = std::make_unique<int>(0);
    Request request = request_of(seed, 3, 4);
    request.on_event = [bell = bell.get()] { ++*bell; };
    Stream stream = bench.submit(request);
    if (seed % 5 == 4) stream.cancel();
    int taken = 0;
    while (stream.next()) ++taken;
    EXPECT_EQ(*bell, taken);
    bell.reset();
  }
}

// As a server does it: the callback rings, the reader takes what is there, and leaves with the last event.
TEST(OnEvent, WakesAReaderWhoNeverWaitsForAStream) {
  Bench bench({.queue_events = 3});
  const Request plain = request_of(7, 30, 40);
  std::vector<Token> tokens;
  {
    std::mutex mutex;
    std::condition_variable rung;
    bool ring = false;
    Request request = plain;
    request.on_event = [&] {
      const std::lock_guard lock(mutex);
      ring = true;
      rung.notify_one();
    };
    Stream stream = bench.submit(request);
    while (!stream.finished()) {
      std::unique_lock lock(mutex);
      rung.wait(lock, [&] { return ring; });
      ring = false;
      lock.unlock();
      while (auto event = stream.next_within(0)) {
        if (event->kind == Event::Kind::kToken) tokens.push_back(event->token);
      }
    }
  }
  EXPECT_EQ(tokens, expected_of(plain, 256).tokens);
}

}  // namespace
}  // namespace plait
