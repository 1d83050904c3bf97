// Units: taking numbers within the budget, and giving back memory that free numbers of other pools still have.
#include "cache/units.h"

#include "base/check.h"

namespace plait {

Units::Units(StateStore store, const StateCost& cost, std::span<const int> blocks, int slots, std::size_t budget_bytes)
    : store_(std::move(store)), budget_bytes_(budget_bytes) {
  for (std::size_t g = 0; g < cost.groups.size(); ++g) {
    pools_.emplace_back(blocks[g]);
    bytes_.push_back(cost.groups[g].block_bytes);
  }
  pools_.emplace_back(slots);
  bytes_.push_back(cost.anchor_bytes);
}

std::size_t Units::used_bytes() const {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < pools_.size(); ++i) sum += static_cast<std::size_t>(pools_[i].used()) * bytes_[i];
  return sum;
}

std::size_t Units::touched_bytes() const {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < pools_.size(); ++i) sum += static_cast<std::size_t>(pools_[i].touched()) * bytes_[i];
  return sum;
}

int Units::take(int pool) {
  make_room(pool);
  return pools_[static_cast<std::size_t>(pool)].take();
}

// A number without memory will get some when it is written to: free numbers give up theirs until there is room.
void Units::make_room(int pool) {
  const auto at = static_cast<std::size_t>(pool);
  check(used_bytes() + bytes_[at] <= budget_bytes_, "what is taken was seen to fit");
  if (pools_[at].warm() > 0) return;
  for (std::size_t i = 0; i < pools_.size(); ++i) {
    while (pools_[i].warm() > 0 && touched_bytes() + bytes_[at] > budget_bytes_) {
      const int number = pools_[i].cool();
      if (static_cast<int>(i) == groups()) {
        store_.discard_slot(number);
      } else {
        store_.discard_block(static_cast<int>(i), number);
      }
    }
  }
}

void Units::share(const Past& past) {
  for (std::size_t g = 0; g < past.blocks.size(); ++g) {
    for (const int block : past.blocks[g]) {
      if (block >= 0) pools_[g].share(block);
    }
  }
  if (past.anchor >= 0) pools_.back().share(past.anchor);
}

void Units::release(Past& past) {
  for (std::size_t g = 0; g < past.blocks.size(); ++g) {
    for (const int block : past.blocks[g]) {
      if (block >= 0) pools_[g].release(block);
    }
    past.blocks[g].clear();
  }
  if (past.anchor >= 0) release_slot(past.anchor);
  past.anchor = -1;
}

}  // namespace plait
