// Core among threads: full queues, slow readers, cancellation, streams that are dropped.
#include "engine/core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <mutex>
#include <thread>

#include "engine/core_bench.h"

namespace plait {
namespace {

using testing::HasSubstr;

TEST(Core, IsBusyWhenTheQueueIsFull) {
  Bench bench({.max_sequences = 1, .queue_requests = 3});
  std::latch entered(1), open(1);
  std::once_flag once;
  bench.model.before_step = [&](auto) {
    std::call_once(once, [&] {
      entered.count_down();
      open.wait();
    });
  };
  std::vector<Stream> streams;
  streams.push_back(bench.submit(request_of(1, 4, 4)));
  entered.wait();  // It is under way, so it no longer counts.
  for (int i = 0; i < 3; ++i) streams.push_back(bench.submit(request_of(1, 4, 4)));
  const Request request = request_of(1, 4, 4);
  const auto refused = bench.core->submit(request, request.tokens);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kBusy);
  EXPECT_THAT(refused.error().message, HasSubstr("3 requests wait"));
  open.count_down();
  for (Stream& stream : streams) EXPECT_EQ(collect(stream).tokens, expected_of(request, 256).tokens);
  Stream accepted = bench.submit(request);
  EXPECT_EQ(collect(accepted).tokens, expected_of(request, 256).tokens);
}

TEST(Core, LetsASlowReaderWaitAlone) {
  Bench bench({.queue_events = 4});
  const Request slow = request_of(4, 5, 50), fast = request_of(7, 5, 50);
  Stream unread = bench.submit(slow);
  for (int i = 0; i < 5; ++i) {
    Stream stream = bench.submit(fast);
    EXPECT_EQ(collect(stream).tokens, expected_of(fast, 256).tokens);
  }
  EXPECT_EQ(collect(unread).tokens, expected_of(slow, 256).tokens);
}

TEST(Core, TakesTheMemoryOfASlowReaderForOthers) {
  Bench bench({.blocks = 8, .queue_events = 2});
  const Request slow = request_of(4, 90, 30), fast = request_of(7, 90, 30);
  Stream unread = bench.submit(slow);
  Stream stream = bench.submit(fast);
  while (bench.core->open_streams() < 2) std::this_thread::yield();
  EXPECT_EQ(collect(unread).tokens, expected_of(slow, 256).tokens);
  EXPECT_EQ(collect(stream).tokens, expected_of(fast, 256).tokens);
}

TEST(Core, CancelsWhatRunsAndWhatWaits) {
  Bench bench({.max_sequences = 1, .queue_events = 4});
  Stream running = bench.submit(request_of(4, 5, 200));
  Stream waiting = bench.submit(request_of(4, 5, 200));
  waiting.cancel();
  EXPECT_EQ(collect(waiting).finish.finish, FinishReason::kCancel);
  ASSERT_TRUE(running.next());
  running.cancel();
  const Collected all = collect(running);
  EXPECT_EQ(all.finish.finish, FinishReason::kCancel);
  EXPECT_LE(all.tokens.size(), 8u);
}

TEST(Core, ForgetsStreamsThatAreDropped) {
  Bench bench({.max_sequences = 2, .queue_requests = 1000, .queue_events = 4});
  for (std::uint64_t i = 0; i < 100; ++i) {
    Stream stream = bench.submit(request_of(i, 30, 100));
    if (i % 3 == 0) (void)stream.next();
  }
  const Request request = request_of(7, 5, 50);
  Stream stream = bench.submit(request);
  EXPECT_EQ(collect(stream).tokens, expected_of(request, 256).tokens);
}

TEST(Core, GivesUpWaitingAfterTheGivenTime) {
  Bench bench({});
  std::latch open(1);
  bench.model.before_step = [&](auto) { open.wait(); };
  Stream stream = bench.submit(request_of(1, 3, 2));
  EXPECT_FALSE(stream.next_within(1));
  EXPECT_FALSE(stream.finished());
  open.count_down();
  EXPECT_TRUE(stream.next());
  stream.cancel();
  collect(stream);
}

TEST(Core, RunsSeveralSequencesInOneStep) {
  Bench bench({.max_sequences = 8});
  std::size_t most = 0;
  std::latch submitted(1);
  bench.model.before_step = [&](auto work) {
    submitted.wait();
    most = std::max(most, work.size());
  };
  std::vector<Stream> streams;
  for (std::uint64_t i = 0; i < 8; ++i) streams.push_back(bench.submit(request_of(i, 3, 20)));
  submitted.count_down();
  for (Stream& stream : streams) collect(stream);
  streams.clear();
  bench.core.reset();
  EXPECT_GE(most, 4u);
}

TEST(Core, ServesManyThreads) {
  Bench bench({.blocks = 20, .queue_requests = 1000, .queue_events = 5});
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < 30; ++i) {
        const Request request = request_of(t * 100 + i, 1 + static_cast<int>(i * 5 % 60), static_cast<int>(i * 3 % 40));
        Stream stream = bench.submit(request);
        if (i % 7 == 6) {
          stream.cancel();
          if (i % 2 == 0) continue;
        }
        const Collected all = collect(stream);
        if (i % 7 != 6 && all.tokens != expected_of(request, 256).tokens) wrong.fetch_add(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace plait
