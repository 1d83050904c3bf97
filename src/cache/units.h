// Units: the numbered blocks of every group and the slots, under one budget.
#pragma once

#include <vector>

#include "cache/block_pool.h"
#include "cache/sequence.h"
#include "cache/state_cost.h"
#include "cache/state_store.h"

namespace plait {

class Units {
 public:
  // One pool a group, then that of the slots. The store is the memory of them all.
  Units(StateStore store, const StateCost& cost, std::span<const int> blocks, int slots, std::size_t budget_bytes);

  StateStore& store() { return store_; }
  const StateStore& store() const { return store_; }
  int groups() const { return static_cast<int>(pools_.size()) - 1; }
  std::size_t budget_bytes() const { return budget_bytes_; }
  std::size_t used_bytes() const;
  std::size_t touched_bytes() const;

  // There must be room in the budget.
  int take_block(int group) { return take(group); }
  int take_slot() { return take(groups()); }
  void release_block(int group, int block) { pools_[static_cast<std::size_t>(group)].release(block); }
  void release_slot(int slot) { pools_.back().release(slot); }
  bool is_shared_slot(int slot) const { return pools_.back().references(slot) > 1; }

  // Of everything that a past holds.
  void share(const Past& past);
  void release(Past& past);

  const BlockPool& pool(int group) const { return pools_[static_cast<std::size_t>(group)]; }
  const BlockPool& slots() const { return pools_.back(); }

 private:
  int take(int pool);
  void make_room(int pool);

  StateStore store_;
  std::vector<BlockPool> pools_;
  std::vector<std::size_t> bytes_;  // Of one number of each pool.
  std::size_t budget_bytes_;
};

}  // namespace plait
