// Cache::State: what the parts of the cache work on.
#pragma once

#include <memory>
#include <vector>

#include "cache/cache.h"
#include "cache/units.h"

namespace plait {

struct Cache::State {
  State(Units taken, StateCost counted) : units(std::move(taken)), cost(std::move(counted)) {}

  Units units;
  StateCost cost;
  std::vector<std::unique_ptr<Sequence>> sequences;
  std::vector<std::unique_ptr<Snapshot>> snapshots;

  bool has_anchors() const { return cost.anchor_bytes > 0; }
  StepSpan span_of(const Work& work) const;
  std::size_t wanted(const Work& work) const;
  void take(const Work& work);
  void take_anchors(Sequence& sequence, const StepSpan& step);
  void choose_anchor(Sequence& sequence, int position);
  bool can_resume(const Past& past, int at) const;
  const Past* resumable(const Sequence& sequence, int at, int& position) const;
  Result<Sequence*> resume(const Past* past, int position, std::span<const Token> tokens);
};

}  // namespace plait
