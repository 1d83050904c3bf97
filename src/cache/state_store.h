// StateStore: the memory that block numbers stand for, for every row stream of every layer, on one backend buffer.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "backend/backend.h"
#include "backend/batch.h"
#include "plait/result.h"

namespace plait {

// Streams of equal window form a group, and share block numbers: number b of a group means a block in each of its
// streams. Groups are numbered in the order in which their windows appear.
struct StateLayout {
  std::vector<int> windows;         // One a group.
  std::size_t block_bytes = 0;      // Of one block in every group, over all streams of all layers.
  std::vector<LayerState> streams;  // One a layer; offsets are per block count: see StateStore.

  int groups() const { return static_cast<int>(windows.size()); }
};
// `block_bytes` is the greatest size_t if the true sum is beyond it.
StateLayout layout_states(std::span<const StateSpec> layers);

class StateStore {
 public:
  // Takes blocks * layout.block_bytes, which must not overflow.
  static Result<StateStore> create(Backend& backend, StateLayout layout, int blocks);

  std::span<const LayerState> states() const { return layout_.streams; }
  int groups() const { return layout_.groups(); }
  // Copies block `from` to block `to` in every stream of the group.
  void copy_block(int group, int from, int to);

 private:
  StateStore() = default;
  StateLayout layout_;
  std::unique_ptr<Buffer> buffer_;
};

}  // namespace plait
