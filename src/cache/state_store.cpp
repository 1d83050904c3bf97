// StateStore: address ranges, and where in a block each stream lies.
#include "cache/state_store.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace plait {
namespace {

constexpr std::size_t kLeastBytes = 64;

Result<std::unique_ptr<Buffer>> reserve(Backend& backend, int numbers, std::size_t bytes) {
  const auto count = static_cast<std::size_t>(numbers);
  check(numbers >= 0 && (bytes == 0 || count <= std::numeric_limits<std::size_t>::max() / bytes),
        "the bytes of a store can be counted");
  return backend.allocate(std::max(count * bytes, kLeastBytes));
}

std::size_t place(int number, std::size_t bytes) { return static_cast<std::size_t>(number) * bytes; }

}  // namespace

Result<StateStore> StateStore::create(Backend& backend, std::span<const StateSpec> layers, std::span<const int> blocks,
                                      int slots) {
  const StateCost cost = state_cost(layers);
  check(blocks.size() == cost.groups.size(), "each group has its number of blocks");
  StateStore store;
  for (std::size_t g = 0; g < cost.groups.size(); ++g) {
    auto buffer = reserve(backend, blocks[g], cost.groups[g].block_bytes);
    if (!buffer) return fail(buffer.error());
    store.groups_.push_back({std::move(*buffer), cost.groups[g].block_bytes});
  }
  auto anchors = reserve(backend, slots, cost.anchor_bytes);
  if (!anchors) return fail(anchors.error());
  store.anchors_ = {std::move(*anchors), cost.anchor_bytes};

  std::vector<std::size_t> used(cost.groups.size(), 0);
  std::size_t anchors_used = 0;
  for (const StateSpec& layer : layers) {
    LayerState& state = store.states_.emplace_back();
    for (int i = 0; i < kMaxRowStreams; ++i) {
      const RowSpec& rows = layer.rows[i];
      if (rows.bytes == 0) continue;
      const std::size_t g = cost.group_of(rows);
      state.rows[i] = {.buffer = store.groups_[g].buffer.get(),
                       .offset = used[g],
                       .stride = cost.groups[g].block_bytes,
                       .block_bytes = stream_block_bytes(rows),
                       .group = static_cast<int>(g)};
      used[g] += state.rows[i].block_bytes;
    }
    if (layer.anchor_bytes == 0) continue;
    state.anchors = store.anchors_.buffer.get();
    state.anchor_offset = anchors_used;
    state.anchor_stride = cost.anchor_bytes;
    state.anchor_bytes = layer_anchor_bytes(layer);
    anchors_used += state.anchor_bytes;
  }
  return store;
}

void StateStore::copy_block(int group, int from, int to) {
  const Range& range = groups_[static_cast<std::size_t>(group)];
  std::byte* base = range.buffer->host();
  check(base != nullptr, "blocks are copied by the host");
  std::memcpy(base + place(to, range.bytes), base + place(from, range.bytes), range.bytes);
}

void StateStore::discard_block(int group, int block) {
  const Range& range = groups_[static_cast<std::size_t>(group)];
  range.buffer->discard(place(block, range.bytes), range.bytes);
}

void StateStore::discard_slot(int slot) { anchors_.buffer->discard(place(slot, anchors_.bytes), anchors_.bytes); }

}  // namespace plait
