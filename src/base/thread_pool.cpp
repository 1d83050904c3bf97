// ThreadPool: workers wait on a generation number, first spinning, then sleeping on it.
#include "base/thread_pool.h"

#include <system_error>

#include "base/check.h"
#include "base/float_mode.h"

namespace plait {
namespace {

constexpr int kSpins = 20'000;  // About 50 microseconds: longer than the gap between two operations of a step.

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

}  // namespace

ThreadPool::ThreadPool(int threads) : threads_(threads) {
  check(threads >= 1, "a thread pool has at least its caller");
  try {
    for (int i = 1; i < threads; ++i) workers_.emplace_back([this, i] { worker_loop(i); });
  } catch (const std::system_error&) {  // No memory for a stack, or a limit on threads. Workers read threads_ in run().
    threads_ = static_cast<int>(workers_.size()) + 1;
  }
}

ThreadPool::~ThreadPool() {
  stop_.store(true, std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run(const std::function<void(int, int)>& work) {
  const FloatMode mode;
  if (threads_ == 1) {
    work(0, 1);
    return;
  }
  work_ = &work;
  remaining_.store(threads_ - 1, std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  work(0, threads_);
  for (int spins = 0;; ++spins) {
    const int left = remaining_.load(std::memory_order_acquire);
    if (left == 0) break;
    if (spins < kSpins) {
      relax();
    } else {
      remaining_.wait(left, std::memory_order_acquire);
    }
  }
}

void ThreadPool::worker_loop(int worker) {
  const FloatMode mode;
  std::uint32_t seen = 0;
  for (;;) {
    std::uint32_t now = generation_.load(std::memory_order_acquire);
    for (int spins = 0; now == seen; ++spins) {
      if (spins < kSpins) {
        relax();
      } else {
        generation_.wait(seen, std::memory_order_acquire);
      }
      now = generation_.load(std::memory_order_acquire);
    }
    seen = now;
    if (stop_.load(std::memory_order_relaxed)) return;
    (*work_)(worker, threads_);
    if (remaining_.fetch_sub(1, std::memory_order_acq_rel) == 1) remaining_.notify_one();
  }
}

void ThreadPool::parallel_for(int count, const std::function<void(int, int, int)>& body) {
  run([&](int worker, int workers) {
    const auto cut = [&](int i) { return static_cast<int>(static_cast<std::int64_t>(count) * i / workers); };
    const int begin = cut(worker), end = cut(worker + 1);
    if (begin < end) body(begin, end, worker);
  });
}

}  // namespace plait
