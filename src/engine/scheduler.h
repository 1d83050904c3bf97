// plan(): which tokens of which sequences the next step computes. A pure function over integers.
#pragma once

#include <span>
#include <vector>

#include "cache/state_cost.h"

namespace plait {

// One sequence as the scheduler sees it: the plan lets `computed` catch up with `known`.
struct Entry {
  int known = 0;          // Tokens.
  int computed = 0;       // Of those; zero if it is not admitted.
  bool admitted = false;  // May hold rows and anchors.
  bool blocked = false;   // Its reader is behind: it is left alone.
};

struct Limits {
  int step_tokens = 0;
  int max_sequences = 0;        // Admitted at once.
  std::size_t total_bytes = 0;  // For rows and anchors.
  std::size_t free_bytes = 0;
  const StateCost* cost = nullptr;  // Of one sequence.
};

struct Portion {
  int entry = 0;
  int count = 0;  // Tokens.
};

// To be carried out in this order. Numbers are indices of entries.
struct Plan {
  std::vector<int> outgrown;  // Alone, it does not fit any more.
  std::vector<int> pause;     // Give up its memory; it will be admitted and computed again.
  std::vector<int> admit;
  std::vector<Portion> work;
};

// Entries stand in order of arrival; it breaks all ties.
// 1. Every admitted sequence with one token to compute is in the step.
// 2. Sequences are admitted in order while their tokens and 64 more fit beside what the admitted ones still need for
//    theirs and 16 more for each of them. Nobody overtakes, but blocked ones are passed by.
// 3. The rest of the step's tokens goes to prompts, in pieces that end at block borders.
// When an admitted sequence cannot get the memory of its next token, the latest arrival is paused, blocked ones first;
// when it is itself the latest, it is paused; when nobody else holds anything, it is outgrown.
Plan plan(std::span<const Entry> entries, const Limits& limits);

}  // namespace plait
