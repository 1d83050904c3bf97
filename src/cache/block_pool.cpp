// BlockPool: an array of counts and two stacks of free numbers; those never taken need no entry.
#include "cache/block_pool.h"

#include <algorithm>

#include "base/check.h"

namespace plait {

BlockPool::BlockPool(int total) : total_(total) { check(total >= 0, "a pool has no negative number of blocks"); }

int BlockPool::references(int block) const {
  check(block >= 0 && block < total_, "a block number lies in its pool");
  const auto at = static_cast<std::size_t>(block);
  return at < references_.size() ? references_[at] : 0;
}

int BlockPool::take() {
  check(free() > 0, "a block is taken only when one is free");
  int block = static_cast<int>(references_.size());
  if (!warm_.empty()) {
    block = warm_.back();
    warm_.pop_back();
  } else if (!cooled_.empty()) {
    block = cooled_.back();
    cooled_.pop_back();
  } else {
    references_.push_back(0);
  }
  references_[static_cast<std::size_t>(block)] = 1;
  ++used_;
  return block;
}

void BlockPool::share(int block) {
  check(references(block) > 0, "a free block cannot be shared");
  ++references_[static_cast<std::size_t>(block)];
}

void BlockPool::release(int block) {
  check(references(block) > 0, "a free block cannot be released");
  if (--references_[static_cast<std::size_t>(block)] > 0) return;
  --used_;
  warm_.push_back(block);
}

int BlockPool::cool() {
  check(!warm_.empty(), "a warm block is there to be cooled");
  const int block = warm_.front();
  warm_.erase(warm_.begin());
  cooled_.push_back(block);
  return block;
}

void BlockPool::check_integrity() const {
  std::vector<int> seen(references_.size(), 0);
  for (const std::vector<int>* list : {&warm_, &cooled_}) {
    for (const int block : *list) {
      check(references(block) == 0, "a free block has no references");
      check(++seen[static_cast<std::size_t>(block)] == 1, "a block is free once");
    }
  }
  const auto held = std::count_if(references_.begin(), references_.end(), [](int count) { return count > 0; });
  check(held == used_, "as many blocks are held as are counted");
  check(references_.size() == static_cast<std::size_t>(used_) + warm_.size() + cooled_.size(),
        "a block that was taken is held or free");
  check(references_.size() <= static_cast<std::size_t>(total_), "no block lies beyond its pool");
}

}  // namespace plait
