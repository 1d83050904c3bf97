// BoundedQueue: its bound, its order, and waiting.
#include "engine/queue.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

namespace plait {
namespace {

TEST(BoundedQueue, RefusesWhatDoesNotFitAndLeavesItUntouched) {
  BoundedQueue<std::unique_ptr<int>> queue(2);
  EXPECT_TRUE(queue.push(std::make_unique<int>(1)));
  EXPECT_TRUE(queue.push(std::make_unique<int>(2)));
  auto third = std::make_unique<int>(3);
  EXPECT_FALSE(queue.push(std::move(third)));
  EXPECT_NE(third, nullptr);
  EXPECT_EQ(queue.room(), 0u);
  queue.push_last(std::move(third));
  EXPECT_EQ(queue.room(), 0u);
  EXPECT_EQ(**queue.pop(), 1);
  EXPECT_EQ(**queue.pop(), 2);
  EXPECT_EQ(**queue.try_pop(), 3);
  EXPECT_FALSE(queue.try_pop());
  EXPECT_EQ(queue.room(), 2u);
}

TEST(BoundedQueue, GivesUpAfterTheGivenTime) {
  BoundedQueue<int> queue(1);
  EXPECT_FALSE(queue.pop_within(std::chrono::milliseconds(1)));
  queue.push(5);
  EXPECT_EQ(queue.pop_within(std::chrono::milliseconds(0)), 5);
}

TEST(BoundedQueue, RemembersThatItWasWoken) {
  BoundedQueue<int> queue(1);
  queue.wake();
  queue.wait();  // Returns at once.
  queue.push(1);
  queue.wait();
  EXPECT_EQ(queue.try_pop(), 1);
}

TEST(BoundedQueue, PassesEverythingInOrderBetweenThreads) {
  constexpr int kItems = 20000;
  BoundedQueue<int> queue(3);
  std::thread writer([&] {
    for (int i = 0; i < kItems; ++i) {
      while (!queue.push(int{i})) std::this_thread::yield();
    }
  });
  for (int i = 0; i < kItems; ++i) ASSERT_EQ(queue.pop(), i);
  writer.join();
}

}  // namespace
}  // namespace plait
