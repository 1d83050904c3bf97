// ThreadPool: every piece once, whatever the threads, and the same cut each time.
#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "support/flush_to_zero.h"

namespace plait {
namespace {

TEST(ThreadPool, DoesEveryPieceOnceByTheFixedCut) {
  for (int threads = 1; threads <= 5; ++threads) {
    ThreadPool pool(threads);
    for (const int each : {1, 3, ThreadPool::kMostEach}) {
      for (const int count : {0, 1, 2, 7, 1000}) {
        std::vector<std::atomic<int>> done(static_cast<std::size_t>(count));
        std::atomic<int> shares_done{0};
        pool.run_shares(each, [&](int share, int shares, int worker) {
          ++shares_done;
          EXPECT_EQ(shares, threads == 1 ? 1 : threads * each);
          EXPECT_TRUE(worker >= 0 && worker < threads);
          const PieceRange range = share_of(count, share, shares);
          for (int i = range.begin; i < range.end; ++i) ++done[static_cast<std::size_t>(i)];
        });
        EXPECT_EQ(shares_done, threads == 1 ? 1 : threads * each);
        for (const auto& times : done) EXPECT_EQ(times, 1);
      }
    }
  }
}

TEST(ThreadPool, CutsARangeAmongItsWorkers) {
  ThreadPool pool(3);
  std::vector<std::atomic<int>> done(1000);
  pool.parallel_for(
      1000,
      [&](int begin, int end, int worker) {
        EXPECT_TRUE(begin < end && worker >= 0 && worker < 3);
        for (int i = begin; i < end; ++i) ++done[static_cast<std::size_t>(i)];
      },
      ThreadPool::Sharing::kAny, 4);
  for (const auto& times : done) EXPECT_EQ(times, 1);
}

TEST(ThreadPool, LetsOthersTakeWhatAHeldUpWorkerHasNotBegun) {
  ThreadPool pool(2);
  if (pool.threads() < 2) GTEST_SKIP() << "one thread only";
  std::atomic<int> done{0};
  pool.run_shares(4, [&](int share, int shares, int) {
    // Whoever has share 0 is held up until all the others are done, three of its own among them.
    while (share == 0 && done.load() < shares - 1) std::this_thread::yield();
    ++done;
  });
  EXPECT_EQ(done, 8);
}

TEST(ThreadPool, RunsManyShortCallsInARow) {
  ThreadPool pool(3);
  std::atomic<int> calls{0};
  for (int i = 0; i < 5000; ++i) pool.run([&](int, int) { ++calls; });
  EXPECT_EQ(calls, 15000);
}

TEST(ThreadPool, DoesEveryShareOnceWithMoreThreadsThanAWordHasBits) {
  ThreadPool pool(130);
  std::vector<std::atomic<int>> done(130);
  for (int i = 0; i < 20; ++i) {
    pool.run([&](int share, int shares) {
      EXPECT_EQ(shares, 130);
      ++done[static_cast<std::size_t>(share)];
    });
  }
  for (const auto& count : done) EXPECT_EQ(count, 20);
}

// Which thread did each share, in 200 calls that find the workers asleep and take less time than waking them.
std::vector<std::vector<std::thread::id>> doers(ThreadPool& pool, ThreadPool::Sharing sharing) {
  std::vector<std::vector<std::thread::id>> calls;
  for (int i = 0; i < 200; ++i) {
    std::vector<std::thread::id> call(static_cast<std::size_t>(pool.threads()));
    pool.run([&](int share, int) { call[static_cast<std::size_t>(share)] = std::this_thread::get_id(); }, sharing);
    calls.push_back(call);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return calls;
}

TEST(ThreadPool, DoesTheShareOfAWorkerThatHasNotBegun) {
  ThreadPool pool(3);
  int by_caller = 0;
  for (const auto& call : doers(pool, ThreadPool::Sharing::kAny))
    if (call[1] == std::this_thread::get_id() || call[2] == std::this_thread::get_id()) ++by_caller;
  EXPECT_GT(by_caller, 0);
}

TEST(ThreadPool, LeavesEachShareToItsWorkerWhereThatIsAsked) {
  ThreadPool pool(3);
  const auto calls = doers(pool, ThreadPool::Sharing::kOwn);
  for (const auto& call : calls) EXPECT_EQ(call, calls.front());
  EXPECT_EQ(calls.front()[0], std::this_thread::get_id());
  EXPECT_NE(calls.front()[1], calls.front()[2]);
}

TEST(ThreadPool, KeepsWorkersToTheirPlacesAndTheCallerOnlyWhereAsked) {
  const std::vector<int> allowed = allowed_processors();
  if (allowed.size() < 2) GTEST_SKIP() << "one processor may be used";
  const std::vector<std::vector<int>> wanted = {{allowed[1]}, {allowed[0]}, {allowed[0], allowed[1]}};
  ThreadPool pool(ThreadPlan{.threads = 3, .places = {{0, wanted[0]}, {0, wanted[1]}, {0, wanted[2]}}});
  const auto places = [&] {
    std::vector<std::vector<int>> found(3);
    pool.run([&](int share, int) { found[static_cast<std::size_t>(share)] = allowed_processors(); },
             ThreadPool::Sharing::kOwn);
    return found;
  };
  EXPECT_EQ(places(), (std::vector<std::vector<int>>{allowed, wanted[1], wanted[2]}));
  {
    const KeptThread kept = pool.keep_caller();
    EXPECT_EQ(places(), wanted);
  }
  EXPECT_EQ(allowed_processors(), allowed);
}

TEST(ThreadPool, HonoursDenormalsAndGivesTheCallersModeBack) {
  set_flush_to_zero(true);
  if (!flushes_to_zero()) GTEST_SKIP() << "how to flush to zero on this machine is not known";
  ThreadPool pool(2);
  std::atomic<int> flushing{0};
  pool.run([&](int, int) {
    if (flushes_to_zero()) ++flushing;
  });
  EXPECT_EQ(flushing, 0);
  EXPECT_TRUE(flushes_to_zero());
  set_flush_to_zero(false);
}

}  // namespace
}  // namespace plait
