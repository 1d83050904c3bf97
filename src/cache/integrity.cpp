// Cache::check_integrity(): that references add up, and that nobody writes where somebody else reads.
#include "base/check.h"
#include "cache/cache_state.h"

namespace plait {
namespace {

using Counts = std::vector<int>;

void count(Counts& counts, int number) {
  if (number >= 0) ++counts[static_cast<std::size_t>(number)];
}

void compare(const BlockPool& pool, const Counts& references) {
  pool.check_integrity();
  for (int number = 0; number < pool.total(); ++number)
    check(references[static_cast<std::size_t>(number)] == pool.references(number), "references are counted right");
}

// What a past at rest holds: all that its next token reads, and nothing beyond its position.
void check_past(const StateCost& cost, const Past& past, int rows) {
  check(past.blocks.size() == cost.groups.size(), "a past has one list a group");
  for (std::size_t g = 0; g < cost.groups.size(); ++g) {
    const std::vector<int>& list = past.blocks[g];
    check(static_cast<int>(list.size()) == blocks_for(rows), "a past has the blocks of its rows, no more");
    const int first = cost.groups[g].first_block(past.position);
    for (int i = 0; i < blocks_for(past.position); ++i)
      check((list[static_cast<std::size_t>(i)] >= 0) == (i >= first), "a block is held as long as it is read");
  }
  if (cost.anchor_bytes > 0)
    check((past.anchor >= 0) == (past.position >= kChunkTokens), "there is an anchor from the first chunk on");
}

}  // namespace

void Cache::check_integrity() const {
  const StateCost& cost = state_->cost;
  const Units& units = state_->units;
  for (int g = 0; g < units.groups(); ++g) {
    const BlockPool& pool = units.pool(g);
    Counts references(static_cast<std::size_t>(pool.total()), 0), writers(references);
    for (const auto& sequence : state_->sequences) {
      const std::vector<int>& list = sequence->past_.blocks[static_cast<std::size_t>(g)];
      for (const int block : list) count(references, block);
      // The block that the next row goes to, and those of the step under way.
      for (auto i = static_cast<std::size_t>(sequence->computed() / kBlockTokens); i < list.size(); ++i)
        count(writers, list[i]);
    }
    for (const auto& snapshot : state_->snapshots) {
      for (const int block : snapshot->past_.blocks[static_cast<std::size_t>(g)]) count(references, block);
    }
    compare(pool, references);
    for (const int writing : writers) check(writing <= 1, "a block that is written to has one writer");
  }
  Counts references(static_cast<std::size_t>(units.slots().total()), 0);
  for (const auto& sequence : state_->sequences) {
    check_past(cost, sequence->past_, sequence->computed() + sequence->prepared());
    check(sequence->computed() + sequence->prepared() <= sequence->known(), "no more is computed than is known");
    count(references, sequence->past_.anchor);
    for (const AnchorOut& made : sequence->made_) {
      if (made.slot != sequence->past_.anchor) count(references, made.slot);
      check(units.slots().references(made.slot) == 1, "an anchor is written where nobody else reads");
    }
  }
  for (const auto& snapshot : state_->snapshots) {
    check_past(cost, snapshot->past_, snapshot->position());
    count(references, snapshot->past_.anchor);
  }
  compare(units.slots(), references);
  check(units.used_bytes() <= units.touched_bytes() && units.touched_bytes() <= units.budget_bytes(),
        "no more memory is touched than the budget allows");
}

}  // namespace plait
