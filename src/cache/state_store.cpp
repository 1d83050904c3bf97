// StateStore: streams lie one after the other, each an array of blocks.
#include "cache/state_store.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace plait {
namespace {

constexpr std::size_t kAlignment = 64;

std::size_t stream_block_bytes(const RowSpec& rows) {
  check(rows.bytes >= 0 && rows.window >= 0, "a row stream has no negative size or window");
  const std::size_t bytes = static_cast<std::size_t>(kBlockTokens) * static_cast<std::size_t>(rows.bytes);
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

int group_of(std::vector<int>& windows, int window) {
  const auto found = std::find(windows.begin(), windows.end(), window);
  if (found != windows.end()) return static_cast<int>(found - windows.begin());
  windows.push_back(window);
  return static_cast<int>(windows.size()) - 1;
}

}  // namespace

StateLayout layout_states(std::span<const StateSpec> layers) {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  StateLayout layout;
  for (const StateSpec& layer : layers) {
    check(layer.anchor_bytes == 0, "anchors have no store yet");
    LayerState& state = layout.streams.emplace_back();
    for (int i = 0; i < kMaxRowStreams; ++i) {
      const RowSpec& rows = layer.rows[i];
      if (rows.bytes == 0) continue;
      state.rows[i].group = group_of(layout.windows, rows.window);
      state.rows[i].block_bytes = stream_block_bytes(rows);
      const std::size_t left = kMost - layout.block_bytes;
      layout.block_bytes += std::min(left, state.rows[i].block_bytes);
    }
  }
  return layout;
}

Result<StateStore> StateStore::create(Backend& backend, StateLayout layout, int blocks) {
  const auto count = static_cast<std::size_t>(blocks);
  check(
      blocks >= 0 && (layout.block_bytes == 0 || count <= std::numeric_limits<std::size_t>::max() / layout.block_bytes),
      "the bytes of a store can be counted");
  StateStore store;
  auto buffer = backend.allocate(std::max(count * layout.block_bytes, kAlignment));
  if (!buffer) return fail(buffer.error());
  store.buffer_ = std::move(*buffer);
  std::size_t offset = 0;
  for (LayerState& state : layout.streams) {
    for (RowStream& stream : state.rows) {
      if (stream.block_bytes == 0) continue;
      stream.buffer = store.buffer_.get();
      stream.offset = offset;
      stream.stride = stream.block_bytes;
      offset += count * stream.block_bytes;
    }
  }
  store.layout_ = std::move(layout);
  return store;
}

void StateStore::copy_block(int group, int from, int to) {
  for (const LayerState& state : layout_.streams) {
    for (const RowStream& stream : state.rows) {
      if (stream.block_bytes == 0 || stream.group != group) continue;
      std::byte* base = stream.buffer->host();
      check(base != nullptr, "blocks are copied by the host");
      base += stream.offset;
      std::memcpy(base + static_cast<std::size_t>(to) * stream.block_bytes,
                  base + static_cast<std::size_t>(from) * stream.block_bytes, stream.block_bytes);
    }
  }
}

}  // namespace plait
