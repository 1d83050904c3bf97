// ThreadPool: every piece once, whatever the threads, and the same cut each time.
#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace plait {
namespace {

TEST(ThreadPool, DoesEveryPieceOnceByTheFixedCut) {
  for (int threads = 1; threads <= 5; ++threads) {
    ThreadPool pool(threads);
    for (const int count : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> owner(static_cast<std::size_t>(count));
      for (auto& o : owner) o = -1;
      pool.parallel_for(count, [&](int begin, int end, int worker) {
        for (int i = begin; i < end; ++i) EXPECT_EQ(owner[static_cast<std::size_t>(i)].exchange(worker), -1);
      });
      for (int i = 0; i < count; ++i) {
        const int worker = owner[static_cast<std::size_t>(i)];
        ASSERT_GE(worker, 0);
        EXPECT_GE(i, count * worker / threads);
        EXPECT_LT(i, count * (worker + 1) / threads);
      }
    }
  }
}

TEST(ThreadPool, RunsManyShortCallsInARow) {
  ThreadPool pool(3);
  std::atomic<int> calls{0};
  for (int i = 0; i < 5000; ++i) pool.run([&](int, int) { ++calls; });
  EXPECT_EQ(calls, 15000);
}

#if defined(__x86_64__)
TEST(ThreadPool, HonoursDenormalsAndGivesTheCallersModeBack) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040u);  // Flush to zero, denormals are zero.
  ThreadPool pool(2);
  std::atomic<int> flushing{0};
  pool.run([&](int, int) {
    if ((_mm_getcsr() & 0x8040u) != 0) ++flushing;
  });
  EXPECT_EQ(flushing, 0);
  EXPECT_EQ(_mm_getcsr() & 0x8040u, 0x8040u);
  _mm_setcsr(before);
}
#endif

}  // namespace
}  // namespace plait
