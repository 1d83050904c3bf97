// Workers: the threads of handlers.
#include "server/workers.h"

#include <system_error>
#include <utility>

namespace plait {

bool Workers::run(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  const bool busy = static_cast<int>(tasks_.size()) >= idle_;  // Each task that waits has an idle thread on its way.
  if (busy && static_cast<int>(threads_.size()) < most_) {
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      if (threads_.empty()) return false;
    }
  }
  tasks_.push_back(std::move(task));
  wake_.notify_one();
  return true;
}

void Workers::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    wake_.wait(lock, [&] { return ending_ || !tasks_.empty(); });
    --idle_;
    if (tasks_.empty()) return;
    std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    task = {};
    lock.lock();
  }
}

void Workers::join() {
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    threads.swap(threads_);
    wake_.notify_all();
  }
  for (std::thread& thread : threads) thread.join();
}

int Workers::threads() {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(threads_.size());
}

}  // namespace plait
