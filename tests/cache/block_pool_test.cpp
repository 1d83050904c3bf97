// BlockPool: order, counts, and a random walk against a slow model.
#include "cache/block_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"

namespace plait {
namespace {

TEST(BlockPool, TakesWhatWasFreedLastAndThenWhatWasNeverTaken) {
  BlockPool pool(4);
  EXPECT_EQ(pool.take(), 0);
  EXPECT_EQ(pool.take(), 1);
  EXPECT_EQ(pool.take(), 2);
  pool.release(1);
  pool.release(0);
  EXPECT_EQ(pool.touched(), 3);
  EXPECT_EQ(pool.take(), 0);
  EXPECT_EQ(pool.take(), 1);
  EXPECT_EQ(pool.take(), 3);
  EXPECT_EQ(pool.free(), 0);
}

TEST(BlockPool, CoolsWhatWasFreedLongestAgoAndTakesItLast) {
  BlockPool pool(3);
  for (int i = 0; i < 3; ++i) pool.take();
  for (int i = 0; i < 3; ++i) pool.release(i);
  EXPECT_EQ(pool.cool(), 0);
  EXPECT_EQ(pool.touched(), 2);
  EXPECT_EQ(pool.take(), 2);
  EXPECT_EQ(pool.take(), 1);
  EXPECT_EQ(pool.take(), 0);
  pool.check_integrity();
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
  EXPECT_DEATH(pool.cool(), "warm block");
}

TEST(BlockPool, AgreesWithASlowModelOnARandomWalk) {
  constexpr int kBlocks = 13;
  BlockPool pool(kBlocks);
  std::vector<int> warm, cooled;
  std::vector<int> held;  // One entry a reference.
  int fresh = 0;
  for (std::uint64_t step = 0; step < 20000; ++step) {
    const std::uint64_t bits = random_bits(7, step);
    const std::uint64_t act = bits % 8;
    const std::size_t pick = held.empty() ? 0 : (bits >> 8) % held.size();
    if (act < 3 && pool.free() > 0) {
      std::vector<int>* from = !warm.empty() ? &warm : !cooled.empty() ? &cooled : nullptr;
      const int expected = from != nullptr ? from->back() : fresh++;
      if (from != nullptr) from->pop_back();
      ASSERT_EQ(pool.take(), expected);
      held.push_back(expected);
    } else if (act == 3 && !held.empty() && held.size() < 40) {
      pool.share(held[pick]);
      held.push_back(held[pick]);
    } else if (act < 7 && !held.empty()) {
      const int block = held[pick];
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(pick));
      pool.release(block);
      if (std::find(held.begin(), held.end(), block) == held.end()) warm.push_back(block);
    } else if (act == 7 && !warm.empty()) {
      ASSERT_EQ(pool.cool(), warm.front());
      cooled.push_back(warm.front());
      warm.erase(warm.begin());
    }
    pool.check_integrity();
    ASSERT_EQ(pool.warm(), static_cast<int>(warm.size()));
    ASSERT_EQ(pool.free(), static_cast<int>(warm.size() + cooled.size()) + kBlocks - fresh);
  }
}

}  // namespace
}  // namespace plait
