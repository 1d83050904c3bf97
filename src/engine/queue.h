// BoundedQueue: the only place where threads meet. Many may push, one pops.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace plait {

template <class T>
class BoundedQueue {
 public:
  // `on_push`, if set, is called for each item by whoever pushed it, before the item can be taken.
  explicit BoundedQueue(std::size_t capacity, std::function<void()> on_push = {})
      : capacity_(capacity), on_push_(std::move(on_push)) {}

  // False, and the item untouched, if the queue is full.
  bool push(T&& item) {
    const std::lock_guard lock(mutex_);
    if (items_.size() >= capacity_) return false;
    put(std::move(item));
    return true;
  }
  // Beyond the capacity if need be: for the one last item that must arrive.
  void push_last(T&& item) {
    const std::lock_guard lock(mutex_);
    put(std::move(item));
  }
  std::size_t room() const {
    const std::lock_guard lock(mutex_);
    return capacity_ - std::min(capacity_, items_.size());
  }

  std::optional<T> try_pop() {
    const std::lock_guard lock(mutex_);
    return take();
  }
  std::optional<T> pop() {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [&] { return !items_.empty(); });
    return take();
  }
  std::optional<T> pop_within(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    ready_.wait_for(lock, time, [&] { return !items_.empty(); });
    return take();
  }

  // Returns when there is an item, or somebody has called wake() since the last time.
  void wait() {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [&] { return woken_ || !items_.empty(); });
    woken_ = false;
  }
  void wake() {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    ready_.notify_one();
  }

 private:
  void put(T&& item) {
    items_.push_back(std::move(item));
    ready_.notify_one();
    if (on_push_) on_push_();
  }
  std::optional<T> take() {
    if (items_.empty()) return std::nullopt;
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    return item;
  }

  const std::size_t capacity_;
  const std::function<void()> on_push_;
  mutable std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<T> items_;
  bool woken_ = false;
};

}  // namespace plait
