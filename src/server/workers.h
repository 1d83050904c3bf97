// Workers: threads that run handlers. Made when they are needed, kept for the next, joined at the end.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace plait {

class Workers {
 public:
  explicit Workers(int most) : most_(most) {}
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers() { join(); }

  // Runs the task on a thread; where all `most` are at work, once one is free. False: there is no thread to run it, and
  // none can be made.
  bool run(std::function<void()> task);
  void join();  // Waits for all tasks and ends the threads.
  int threads();

 private:
  void work();

  const int most_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::thread> threads_;
  int idle_ = 0;
  bool ending_ = false;
};

}  // namespace plait
