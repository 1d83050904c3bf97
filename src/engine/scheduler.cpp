// plan(): decode rows, admission, prompts; and who makes room when memory is short.
#include "engine/scheduler.h"

#include <algorithm>

#include "base/check.h"
#include "cache/sequence.h"

namespace plait {
namespace {

constexpr int kAdmissionTokens = 64;  // Beyond the known ones, so that an admitted sequence gets somewhere.

class Planner {
 public:
  Planner(std::span<const Entry> entries, const Limits& limits)
      : limits_(limits), tokens_left_(limits.step_tokens), free_(limits.free_bytes) {
    for (const Entry& entry : entries) {
      check(entry.computed >= 0 && entry.computed < entry.known, "every sequence has a token to compute");
      state_.push_back({.entry = entry, .held = entry.admitted ? cost().held(entry.computed) : 0});
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
    std::size_t held = 0;  // Bytes, with those for `count`.
    int count = 0;         // Tokens in this step.
  };
  int size() const { return static_cast<int>(state_.size()); }
  State& at(int i) { return state_[static_cast<std::size_t>(i)]; }
  const StateCost& cost() const { return *limits_.cost; }
  std::size_t wanted(const State& s, int count) const {
    return cost().wanted({.computed = s.entry.computed, .count = count});
  }

  // The next tokens of an admitted sequence: as many as the step and the free memory allow.
  void give(int i) {
    State& s = at(i);
    if (!s.entry.admitted || s.entry.blocked || tokens_left_ == 0) return;
    if (!make_room(i)) return;
    const int left = s.entry.known - s.entry.computed;
    int count = std::min(left, tokens_left_);
    if (count < left) count = whole_blocks(s, count);
    while (wanted(s, count) > free_) {
      const int fewer = whole_blocks(s, count - 1);
      count = fewer < count ? fewer : 1;
    }
    const std::size_t bytes = wanted(s, count);
    free_ -= bytes;
    tokens_left_ -= count;
    s.held += bytes;
    s.count = count;
  }

  // `count` tokens, or fewer, so that they end at the border of a block, where there is one among them.
  static int whole_blocks(const State& s, int count) {
    const int end = (s.entry.computed + count) / kBlockTokens * kBlockTokens;
    return end > s.entry.computed ? end - s.entry.computed : count;
  }

  // Sees to it that there is memory for one token; false if the sequence itself had to go.
  bool make_room(int i) {
    while (wanted(at(i), 1) > free_) {
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

  // -1: nobody else holds anything.
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
    s.held = 0;
    s.count = 0;
    s.entry.admitted = false;
    dropped_ = true;
  }

  // What an admitted sequence will still take on its way to a block beyond its known tokens.
  std::size_t promise(const State& s) const {
    const std::size_t goal = cost().context(s.entry.known + kBlockTokens);
    return goal - std::min(goal, s.held);
  }

  void admit() {
    std::size_t promised = 0;
    int admitted = 0;
    for (const State& s : state_) {
      if (!s.entry.admitted) continue;
      promised += promise(s);
      ++admitted;
    }
    for (int i = 0; i < size() && admitted < limits_.max_sequences && !dropped_; ++i) {
      State& s = at(i);
      if (s.entry.admitted || s.entry.blocked) continue;
      const std::size_t needed = cost().context(s.entry.known);
      if (needed > limits_.total_bytes) {
        plan_.outgrown.push_back(i);
        continue;
      }
      const std::size_t wanted = admitted == 0 ? needed : cost().context(s.entry.known + kAdmissionTokens) + promised;
      if (wanted > free_) break;
      s.entry.admitted = true;
      plan_.admit.push_back(i);
      promised += promise(s);
      ++admitted;
    }
  }

  Limits limits_;
  int tokens_left_;
  std::size_t free_;
  bool dropped_ = false;
  std::vector<State> state_;
  Plan plan_;
};

}  // namespace

Plan plan(std::span<const Entry> entries, const Limits& limits) { return Planner(entries, limits).run(); }

}  // namespace plait
