// The merge loop against the slow obvious version, and the number of its steps.
#include "text/merge.h"

#include <gtest/gtest.h>

#include <random>

namespace plait {
namespace {

// Symbols are numbers; a pair joins if its sum is below a limit, the smallest sum first.
Join join_ids(std::int32_t left, std::int32_t right) {
  const std::int32_t sum = left + right;
  return {static_cast<double>(sum % 7), sum, sum < 40};
}

std::vector<std::int32_t> merge_slowly(std::vector<std::int32_t> ids) {
  while (true) {
    std::size_t best = ids.size();
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
      if (!join_ids(ids[i], ids[i + 1]).possible) continue;
      if (best == ids.size() || join_ids(ids[i], ids[i + 1]).cost < join_ids(ids[best], ids[best + 1]).cost) best = i;
    }
    if (best == ids.size()) return ids;
    ids[best] = join_ids(ids[best], ids[best + 1]).id;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
}

std::vector<Symbol> symbols_of(const std::vector<std::int32_t>& ids) {
  std::vector<Symbol> symbols;
  for (std::size_t i = 0; i < ids.size(); ++i) symbols.push_back({static_cast<std::uint32_t>(i), 1, ids[i], -1, -1});
  return symbols;
}

TEST(MergeSymbols, JoinsAsTheSlowVersionDoes) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::int32_t> ids(random() % 60);
    for (auto& id : ids) id = static_cast<std::int32_t>(1 + random() % 12);
    std::vector<Symbol> symbols = symbols_of(ids);
    merge_symbols(symbols, [](const Symbol& a, const Symbol& b) { return join_ids(a.id, b.id); });
    std::vector<std::int32_t> merged;
    for (const Symbol& symbol : symbols) {
      if (symbol.length > 0) merged.push_back(symbol.id);
    }
    ASSERT_EQ(merged, merge_slowly(ids)) << "round " << round;
  }
}

TEST(MergeSymbols, QueuesAtMostThreePairsASymbol) {
  for (const std::size_t count : {1u, 2u, 1000u, 200000u}) {
    std::vector<Symbol> symbols = symbols_of(std::vector<std::int32_t>(count, 1));
    const std::size_t entries = merge_symbols(symbols, [](const Symbol& a, const Symbol& b) {
      return Join{static_cast<double>(a.length), b.id, true};
    });
    EXPECT_LE(entries, 3 * count);
    EXPECT_EQ(symbols[0].length, count);
  }
}

}  // namespace
}  // namespace plait
