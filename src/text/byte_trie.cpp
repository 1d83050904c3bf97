// ByteTrie: the longest of many strings that a text holds at a place.
#include "text/byte_trie.h"

#include <algorithm>

namespace plait {

ByteTrie::ByteTrie(std::vector<TrieEntry> entries) : entries_(std::move(entries)) {
  std::erase_if(entries_, [](const TrieEntry& entry) { return entry.text.empty(); });
  std::sort(entries_.begin(), entries_.end(), [](const TrieEntry& a, const TrieEntry& b) { return a.text < b.text; });
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    Range& range = by_first_byte_[static_cast<unsigned char>(entries_[i].text.front())];
    if (range.end == 0) range.begin = i;
    range.end = i + 1;
  }
}

ByteTrie::Range ByteTrie::narrow(Range range, std::size_t depth, unsigned char byte) const {
  const auto begin = entries_.begin() + range.begin;
  const auto end = entries_.begin() + range.end;
  const auto at_depth = [depth](const TrieEntry& entry) {  // -1: the entry ends here.
    return depth < entry.text.size() ? static_cast<int>(static_cast<unsigned char>(entry.text[depth])) : -1;
  };
  const auto low = std::partition_point(begin, end, [&](const TrieEntry& e) { return at_depth(e) < byte; });
  const auto high = std::partition_point(low, end, [&](const TrieEntry& e) { return at_depth(e) == byte; });
  return {static_cast<std::uint32_t>(low - entries_.begin()), static_cast<std::uint32_t>(high - entries_.begin())};
}

}  // namespace plait
