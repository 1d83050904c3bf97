// BlockPool: order, counts, and a random walk against a slow model.
#include "cache/block_pool.h"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "base/random.h"

namespace plait {
namespace {

TEST(BlockPool, TakesTheOldestFreeBlockFirst) {
  BlockPool pool(4);
  EXPECT_EQ(pool.take(), 0);
  EXPECT_EQ(pool.take(), 1);
  EXPECT_EQ(pool.take(), 2);
  pool.release(1);
  pool.release(0);
  EXPECT_EQ(pool.take(), 3);  // Has been free since the start.
  EXPECT_EQ(pool.take(), 1);
  EXPECT_EQ(pool.take(), 0);
  EXPECT_EQ(pool.free(), 0);
}

TEST(BlockPool, KeepsASharedBlockUntilItsLastHolderReleasesIt) {
  BlockPool pool(2);
  const int block = pool.take();
  pool.share(block);
  EXPECT_EQ(pool.references(block), 2);
  pool.release(block);
  EXPECT_EQ(pool.used(), 1);
  pool.release(block);
  EXPECT_EQ(pool.used(), 0);
  pool.check_integrity();
}

TEST(BlockPool, MayBeEmpty) {
  BlockPool pool(0);
  EXPECT_EQ(pool.total(), 0);
  EXPECT_EQ(pool.free(), 0);
  pool.check_integrity();
}

TEST(BlockPoolDeathTest, StopsOnMisuse) {
  BlockPool pool(1);
  EXPECT_DEATH(pool.release(0), "free block cannot be released");
  EXPECT_DEATH(pool.share(0), "free block cannot be shared");
  EXPECT_DEATH(pool.share(1), "lies in its pool");
  pool.take();
  EXPECT_DEATH(pool.take(), "only when one is free");
}

TEST(BlockPool, AgreesWithASlowModelOnARandomWalk) {
  constexpr int kBlocks = 13;
  BlockPool pool(kBlocks);
  std::deque<int> free_list;
  std::vector<int> held;  // One entry a reference.
  for (int block = 0; block < kBlocks; ++block) free_list.push_back(block);
  for (std::uint64_t step = 0; step < 20000; ++step) {
    const std::uint64_t bits = random_bits(7, step);
    const std::uint64_t act = bits % 3;
    const std::size_t pick = held.empty() ? 0 : (bits >> 8) % held.size();
    if (act == 0 && !free_list.empty()) {
      ASSERT_EQ(pool.take(), free_list.front());
      held.push_back(free_list.front());
      free_list.pop_front();
    } else if (act == 1 && !held.empty() && held.size() < 40) {
      pool.share(held[pick]);
      held.push_back(held[pick]);
    } else if (act == 2 && !held.empty()) {
      const int block = held[pick];
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(pick));
      pool.release(block);
      if (std::find(held.begin(), held.end(), block) == held.end()) free_list.push_back(block);
    }
    pool.check_integrity();
    ASSERT_EQ(pool.free(), static_cast<int>(free_list.size()));
    ASSERT_EQ(pool.used() + pool.free(), pool.total());
  }
}

}  // namespace
}  // namespace plait
