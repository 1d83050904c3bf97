// ThreadPool: parallel_for with a fixed partition, so that results never depend on timing.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace plait {

// Worker 0 is the caller; the others spin for a while after each call, then sleep. One caller at a time.
// Every thread that computes has flush-to-zero off and rounds to nearest; the caller's own mode is restored after each
// call.
class ThreadPool {
 public:
  // `threads` counts the caller; at least 1. Where the system gives fewer, the pool has those: threads() says it.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }

  // Calls work(worker, workers) once on each worker; returns when all are done. Must not be nested.
  void run(const std::function<void(int worker, int workers)>& work);

  // Cuts [0, count) into one contiguous range a worker, [count * i / n, count * (i + 1) / n), and calls body(begin,
  // end, worker).
  void parallel_for(int count, const std::function<void(int begin, int end, int worker)>& body);

 private:
  void worker_loop(int worker);

  int threads_;
  std::vector<std::thread> workers_;
  const std::function<void(int, int)>* work_ = nullptr;
  alignas(64) std::atomic<std::uint32_t> generation_{0};
  alignas(64) std::atomic<int> remaining_{0};
  std::atomic<bool> stop_{false};
};

}  // namespace plait
