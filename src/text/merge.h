// The merge loop that byte-level BPE and SentencePiece share: join the best pair of neighbours until none can be
// joined.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

namespace plait {

// A stretch of the text while it is being merged; neighbours are linked by index.
struct Symbol {
  std::uint32_t begin = 0;
  std::uint32_t length = 0;  // 0: has been merged into its left neighbour.
  std::int32_t id = -1;      // What it stands for; -1: nothing yet.
  std::int32_t previous = -1;
  std::int32_t next = -1;
};

struct Join {
  double cost = 0;       // The lowest is joined first, of equals the leftmost.
  std::int32_t id = -1;  // Of the joined symbol.
  bool possible = false;
};

struct MergeQueueEntry {
  double cost;
  std::int32_t left, right;
  std::uint32_t length;  // Of both together when queued: tells whether one of them has changed since.
  std::int32_t id;
};

struct MergeQueueOrder {
  bool operator()(const MergeQueueEntry& a, const MergeQueueEntry& b) const {
    return a.cost > b.cost || (a.cost == b.cost && a.left > b.left);
  }
};

// `join(left, right)` looks a pair up. n symbols cost at most 3n look-ups and n log n queue steps. Returns the number
// of queue entries made, which tests hold against that bound.
template <class JoinPair>
std::size_t merge_symbols(std::vector<Symbol>& symbols, const JoinPair& join) {
  std::vector<MergeQueueEntry> storage;
  storage.reserve(symbols.size());
  std::priority_queue<MergeQueueEntry, std::vector<MergeQueueEntry>, MergeQueueOrder> queue({}, std::move(storage));
  std::size_t entries = 0;
  const auto offer = [&](std::int32_t left, std::int32_t right) {
    if (left < 0 || right < 0) return;
    const Symbol& a = symbols[static_cast<std::size_t>(left)];
    const Symbol& b = symbols[static_cast<std::size_t>(right)];
    const Join found = join(a, b);
    if (!found.possible) return;
    queue.push({found.cost, left, right, a.length + b.length, found.id});
    ++entries;
  };
  const auto count = static_cast<std::int32_t>(symbols.size());
  for (std::int32_t i = 0; i < count; ++i) {
    symbols[static_cast<std::size_t>(i)].previous = i - 1;
    symbols[static_cast<std::size_t>(i)].next = i + 1 < count ? i + 1 : -1;
  }
  for (std::int32_t i = 1; i < count; ++i) offer(i - 1, i);
  while (!queue.empty()) {
    const MergeQueueEntry best = queue.top();
    queue.pop();
    Symbol& left = symbols[static_cast<std::size_t>(best.left)];
    Symbol& right = symbols[static_cast<std::size_t>(best.right)];
    if (left.length == 0 || right.length == 0 || left.length + right.length != best.length) continue;
    left.length += right.length;
    left.id = best.id;
    right.length = 0;
    left.next = right.next;
    if (right.next >= 0) symbols[static_cast<std::size_t>(right.next)].previous = best.left;
    offer(left.previous, best.left);
    offer(best.left, left.next);
  }
  return entries;
}

}  // namespace plait
