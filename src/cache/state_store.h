// StateStore: the memory that block and slot numbers stand for.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "backend/backend.h"
#include "backend/batch.h"
#include "cache/state_cost.h"
#include "plait/result.h"

namespace plait {

// Each group of row streams, and the anchors, have an address range of their own: number b lies at b times its size,
// with what each layer has in it one after the other. Memory is there only for what was written; the cache sees to it
// that this is no more than its budget.
class StateStore {
 public:
  // `blocks`: how many numbers each group has.
  static Result<StateStore> create(Backend& backend, std::span<const StateSpec> layers, std::span<const int> blocks,
                                   int slots);

  std::span<const LayerState> states() const { return states_; }  // One a layer.
  // Copies block `from` to block `to` in every stream of the group.
  void copy_block(int group, int from, int to);
  // The contents are lost and the memory is given back.
  void discard_block(int group, int block);
  void discard_slot(int slot);

 private:
  struct Range {
    std::unique_ptr<Buffer> buffer;
    std::size_t bytes = 0;  // Of one number.
  };
  StateStore() = default;
  std::vector<LayerState> states_;
  std::vector<Range> groups_;
  Range anchors_;
};

}  // namespace plait
