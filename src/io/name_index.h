// NameIndex: from a name to its place in a list. Sorted, so that no choice of names makes it slow.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace plait {

class NameIndex {
 public:
  NameIndex() = default;

  // `name_of(i)` is the name of item i of `count`; the names must outlive the index.
  template <class NameOf>
  NameIndex(std::size_t count, NameOf name_of) {
    entries_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) entries_.push_back({name_of(i), i});
    std::sort(entries_.begin(), entries_.end(),
              [](const Entry& a, const Entry& b) { return a.name != b.name ? a.name < b.name : a.place < b.place; });
  }

  // The place of the first item with this name; -1: none.
  std::ptrdiff_t find(std::string_view name) const {
    const auto at = std::lower_bound(entries_.begin(), entries_.end(), name,
                                     [](const Entry& entry, std::string_view wanted) { return entry.name < wanted; });
    if (at == entries_.end() || at->name != name) return -1;
    return static_cast<std::ptrdiff_t>(at->place);
  }

  // Some name that occurs twice; empty: none does. (An empty name must be refused before.)
  std::string_view duplicate() const {
    for (std::size_t i = 1; i < entries_.size(); ++i) {
      if (entries_[i].name == entries_[i - 1].name) return entries_[i].name;
    }
    return {};
  }

 private:
  struct Entry {
    std::string_view name;
    std::size_t place;
  };
  std::vector<Entry> entries_;
};

}  // namespace plait
