// plan(): decode rows, admission, prompts; and who makes room when blocks are short.
#include "engine/scheduler.h"

#include <algorithm>
#include <cstdint>

#include "base/check.h"
#include "cache/sequence.h"

namespace plait {
namespace {

constexpr int kAdmissionTokens = 64;  // Beyond the known ones, so that an admitted sequence gets somewhere.

class Planner {
 public:
  Planner(std::span<const Entry> entries, const Limits& limits)
      : limits_(limits), tokens_left_(limits.step_tokens), free_(limits.free_blocks) {
    for (const Entry& entry : entries) {
      check(entry.computed >= 0 && entry.computed < entry.known, "every sequence has a token to compute");
      state_.push_back({.entry = entry, .held = entry.admitted ? blocks_for(entry.computed) : 0});
    }
  }

  Plan run() {
    for (int i = 0; i < size(); ++i) {
      if (at(i).entry.known - at(i).entry.computed == 1) give(i);
    }
    admit();
    for (int i = 0; i < size(); ++i) {
      if (at(i).count == 0) give(i);
    }
    for (int i = 0; i < size(); ++i) {
      if (at(i).count > 0) plan_.work.push_back({i, at(i).count});
    }
    return std::move(plan_);
  }

 private:
  struct State {
    Entry entry;
    int held = 0;   // Blocks, with those for `count`.
    int count = 0;  // Tokens in this step.
  };
  int size() const { return static_cast<int>(state_.size()); }
  State& at(int i) { return state_[static_cast<std::size_t>(i)]; }

  // The next tokens of an admitted sequence: as many as the step and the free blocks allow.
  void give(int i) {
    State& s = at(i);
    if (!s.entry.admitted || s.entry.blocked || tokens_left_ == 0) return;
    const int left = s.entry.known - s.entry.computed;
    if (s.entry.computed % kBlockTokens == 0 && !make_room(i)) return;
    const std::int64_t room = std::int64_t{kBlockTokens} * (s.held + free_) - s.entry.computed;
    int count = static_cast<int>(std::min<std::int64_t>({left, tokens_left_, room}));
    const int end = (s.entry.computed + count) / kBlockTokens * kBlockTokens;
    if (count < left && end > s.entry.computed) count = end - s.entry.computed;
    const int blocks = blocks_for(s.entry.computed + count);
    free_ -= blocks - s.held;
    tokens_left_ -= count;
    s.held = blocks;
    s.count = count;
  }

  // Sees to it that one block is free; false if the sequence itself had to go.
  bool make_room(int i) {
    while (free_ == 0) {
      const int victim = choose_victim(i);
      if (victim < 0) {
        plan_.outgrown.push_back(i);
        drop(i);
        return false;
      }
      plan_.pause.push_back(victim);
      drop(victim);
      if (victim == i) return false;
    }
    return true;
  }

  // -1: nobody else holds a block.
  int choose_victim(int i) {
    int latest = -1;
    for (int k = size() - 1; k >= 0; --k) {
      if (k == i || at(k).held == 0) continue;
      if (at(k).entry.blocked) return k;
      if (latest < 0) latest = k;
    }
    return latest < 0 ? -1 : std::max(latest, i);
  }

  void drop(int i) {
    State& s = at(i);
    free_ += s.held;
    tokens_left_ += s.count;
    s.held = s.count = 0;
    s.entry.admitted = false;
    dropped_ = true;
  }

  void admit() {
    std::int64_t promised = 0;  // Blocks that admitted sequences will still take.
    int admitted = 0;
    for (const State& s : state_) {
      if (!s.entry.admitted) continue;
      promised += std::max(0, blocks_for(s.entry.known) - s.held) + 1;
      ++admitted;
    }
    for (int i = 0; i < size() && admitted < limits_.max_sequences && !dropped_; ++i) {
      State& s = at(i);
      if (s.entry.admitted || s.entry.blocked) continue;
      const std::int64_t needed = blocks_for(s.entry.known);
      if (needed > limits_.total_blocks) {
        plan_.outgrown.push_back(i);
        continue;
      }
      const std::int64_t wanted = admitted == 0 ? needed : blocks_for(s.entry.known + kAdmissionTokens) + promised;
      if (wanted > free_) break;
      s.entry.admitted = true;
      plan_.admit.push_back(i);
      promised += needed + 1;
      ++admitted;
    }
  }

  Limits limits_;
  int tokens_left_;
  int free_;
  bool dropped_ = false;
  std::vector<State> state_;
  Plan plan_;
};

}  // namespace

Plan plan(std::span<const Entry> entries, const Limits& limits) { return Planner(entries, limits).run(); }

}  // namespace plait
