// Suggest: the known word nearest to one that was mistyped.
#include "suggest.h"

#include <algorithm>
#include <vector>

namespace plait {

int edit_distance(std::string_view a, std::string_view b) {
  // The usual table, of which three rows are kept: `now[j]` is the distance of a[0, i) and b[0, j).
  std::vector<int> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) now[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    before.swap(last);
    last.swap(now);
    now[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) now[j] = std::min(now[j], before[j - 2] + 1);
    }
  }
  return now[b.size()];
}

std::string nearest(std::string_view word, std::span<const std::string> known) {
  std::string best;
  int best_distance =
      static_cast<int>(word.size() + 1) / 2 + 1;  // More than half of it wrong: something else was meant.
  for (const std::string& candidate : known) {
    // A beginning of the word counts as one letter's error, so that --thread or --ctx find theirs.
    const bool begins = word.size() >= 3 && std::string_view(candidate).starts_with(word);
    const int distance = begins ? 1 : edit_distance(word, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace plait
