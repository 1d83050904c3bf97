// ByteTrie: the longest of many strings that a text holds at a place.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace plait {

struct TrieEntry {
  std::string_view text;
  std::int32_t id = -1;
};

// A sorted list, searched byte by byte. The strings must outlive it; empty ones are left out.
class ByteTrie {
 public:
  explicit ByteTrie(std::vector<TrieEntry> entries);

  // The longest entry that `text` continues with at `at` and that `accepts(id)` takes; an empty entry if there is none.
  template <class Accepts>
  TrieEntry longest(std::string_view text, std::size_t at, const Accepts& accepts) const {
    TrieEntry best;
    if (at >= text.size()) return best;
    const auto first = static_cast<unsigned char>(text[at]);
    Range range = by_first_byte_[first];
    for (std::size_t depth = 1; range.begin < range.end; ++depth) {
      const TrieEntry& shortest = entries_[range.begin];
      if (shortest.text.size() == depth && accepts(shortest.id)) best = shortest;
      if (at + depth >= text.size()) break;
      range = narrow(range, depth, static_cast<unsigned char>(text[at + depth]));
    }
    return best;
  }

  TrieEntry longest(std::string_view text, std::size_t at) const {
    return longest(text, at, [](std::int32_t) { return true; });
  }

 private:
  struct Range {
    std::uint32_t begin = 0, end = 0;
  };
  Range narrow(Range range, std::size_t depth, unsigned char byte) const;

  std::vector<TrieEntry> entries_;  // Sorted as bytes, so that a prefix comes before what it begins.
  std::array<Range, 256> by_first_byte_{};
};

}  // namespace plait
