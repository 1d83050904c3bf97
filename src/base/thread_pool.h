// ThreadPool: parallel_for with a fixed partition, so that results never depend on timing.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "base/thread_plan.h"

namespace plait {

// A range of pieces.
struct PieceRange {
  int begin = 0, end = 0;
};
// The pieces of share i of n when [0, count) is cut: [count * i / n, count * (i + 1) / n).
constexpr PieceRange share_of(int count, int i, int n) {
  return {static_cast<int>(std::int64_t{count} * i / n), static_cast<int>(std::int64_t{count} * (i + 1) / n)};
}

// The caller is one of the workers; the others spin for a while after each call, then sleep. One caller at a time.
// Work is cut into as many shares for each worker as the call says, one unless told. A share that its worker has not
// begun when another has finished its own is done by that other: where the system runs something else on a worker's
// core, nobody waits for more than the share that worker has begun. Every thread that computes has flush-to-zero off
// and rounds to nearest; the caller's own mode is restored after each call.
class ThreadPool {
 public:
  static constexpr int kMostEach = 8;  // Shares a worker.

  // Who may do a share: any worker that has time, or only its own (so that memory it writes first lies near it).
  enum class Sharing { kAny, kOwn };

  // `threads` counts the caller; at least 1. Where the system gives fewer, the pool has those: threads() says it.
  explicit ThreadPool(int threads) : ThreadPool(ThreadPlan{.threads = threads}) {}
  // The same, the other workers kept to their places. The caller's thread is not ours: see keep_caller().
  explicit ThreadPool(ThreadPlan plan);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }
  const ThreadPlan& plan() const { return plan_; }

  // The calling thread keeps to the place of worker 0 while what is returned lives. For whole loads, runs, or threads:
  // around each of the hundreds of operations of a step it would cost more than it brings.
  KeptThread keep_caller() const;

  // Calls work(share, shares) once for each share, from threads() threads at most; returns when all are done. A share
  // must not wait for another one. Must not be nested.
  void run(const std::function<void(int share, int shares)>& work, Sharing sharing = Sharing::kAny);

  // The same with `each` shares a worker: worker i's own are [i * each, (i + 1) * each), done in order; others take
  // them from the end. `worker` is who does the share.
  using ShareBody = std::function<void(int share, int shares, int worker)>;
  void run_shares(int each, const ShareBody& work, Sharing sharing = Sharing::kAny);

  // Cuts [0, count) by share_of() and calls body(begin, end, worker) for shares that are not empty.
  void parallel_for(int count, const std::function<void(int begin, int end, int worker)>& body,
                    Sharing sharing = Sharing::kAny, int each = 1);

 private:
  void worker_loop(int worker);
  void do_shares(int own);
  bool claim(int share);
  int do_shares_of(int owner, bool backwards, int worker);
  void begin_shares(int count);

  ThreadPlan plan_;
  int threads_;
  std::vector<std::thread> workers_;
  const ShareBody* work_ = nullptr;
  std::atomic<int> each_{1};
  std::atomic<Sharing> sharing_{Sharing::kAny};
  alignas(64) std::atomic<std::uint32_t> generation_{0};
  alignas(64) std::atomic<int> remaining_{0};  // Shares that are not done.
  // A bit a share: somebody does it or has done it. All are set between calls, so that who comes late finds nothing.
  std::vector<std::atomic<std::uint64_t>> claimed_;
  std::atomic<bool> stop_{false};
};

}  // namespace plait
