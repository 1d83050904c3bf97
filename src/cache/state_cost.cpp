// StateCost: saturating sums over groups of row streams.
#include "cache/state_cost.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "cache/sequence.h"

namespace plait {
namespace {

constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kAlignment = 64;
constexpr int kMostTokens = std::numeric_limits<int>::max() / kBlockTokens * kBlockTokens;

void add(std::size_t& sum, std::size_t bytes) { sum += std::min(kMost - sum, bytes); }

void add(std::size_t& sum, int count, std::size_t bytes) {
  if (count <= 0 || bytes == 0) return;
  const auto times = static_cast<std::size_t>(count);
  add(sum, times > kMost / bytes ? kMost : times * bytes);
}

std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

int StreamGroup::first_block(int position) const {
  if (window == kSinceAnchor) return position / kChunkTokens;
  return window == 0 ? 0 : std::max(0, position - window + 1) / kBlockTokens;
}

int StreamGroup::rows_read(int position) const {
  if (window == kSinceAnchor) return position % kChunkTokens;
  return window == 0 ? position : std::min(position, window - 1);
}

int StreamGroup::most_blocks() const {
  if (window == 0 || read_in_pass) return kMostTokens / kBlockTokens;
  // What is read of the past, wherever it begins in a block; and as much again that the step leaves.
  return 2 * (window == kSinceAnchor ? 1 : blocks_for(window - 1) + 1);
}

int StepSpan::first_new_block(const StreamGroup& group) const {
  const int next = blocks_for(computed);
  return group.read_in_pass ? next : std::max(next, group.first_block(least()));
}

int StepSpan::last_new_block() const { return blocks_for(end()); }

int StepSpan::first_anchor() const {
  return std::max(least() / kChunkTokens, computed / kChunkTokens + 1) * kChunkTokens;
}

int StepSpan::anchors() const { return std::max(0, (last_anchor() - first_anchor()) / kChunkTokens + 1); }

std::size_t StateCost::group_of(const RowSpec& rows) const {
  std::size_t group = 0;
  while (group < groups.size() && !groups[group].same_kind(rows)) ++group;
  return group;
}

std::size_t StateCost::held(int computed) const {
  std::size_t sum = 0;
  for (const StreamGroup& group : groups)
    add(sum, blocks_for(computed) - group.first_block(computed), group.block_bytes);
  if (computed >= kChunkTokens) add(sum, anchor_bytes);
  return sum;
}

std::size_t StateCost::read(int computed) const {
  std::size_t sum = 0;
  for (const StreamGroup& group : groups) add(sum, group.rows_read(computed), group.block_bytes / kBlockTokens);
  if (computed >= kChunkTokens) add(sum, anchor_bytes);
  return sum;
}

std::size_t StateCost::wanted(const StepSpan& step, bool own_anchor) const {
  std::size_t sum = 0;
  for (const StreamGroup& group : groups)
    add(sum, step.last_new_block() - step.first_new_block(group), group.block_bytes);
  if (anchor_bytes == 0) return sum;
  const bool in_place = own_anchor && step.computed >= kChunkTokens && step.outlives_anchor();
  add(sum, step.anchors() - (in_place ? 1 : 0), anchor_bytes);
  return sum;
}

std::size_t StateCost::context(int tokens) const {
  std::size_t sum = 0;
  const int blocks = blocks_for(tokens);
  for (const StreamGroup& group : groups) add(sum, std::min(blocks, group.most_blocks()), group.block_bytes);
  if (tokens >= kChunkTokens) add(sum, anchor_bytes);
  return sum;
}

int StateCost::tokens_that_fit(std::size_t bytes) const {
  int low = 0, high = kMostTokens / kBlockTokens;  // In blocks.
  while (low < high) {
    const int middle = low + (high - low + 1) / 2;
    if (context(middle * kBlockTokens) <= bytes) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low * kBlockTokens;
}

std::size_t row_bytes(const StateSpec& layer) {
  std::size_t sum = 0;
  for (const RowSpec& rows : layer.rows) add(sum, static_cast<std::size_t>(rows.bytes));
  return sum;
}

std::size_t stream_block_bytes(const RowSpec& rows) {
  check(rows.bytes >= 0 && rows.window >= kSinceAnchor, "a row stream has no negative size or window");
  return aligned(static_cast<std::size_t>(kBlockTokens) * static_cast<std::size_t>(rows.bytes));
}

std::size_t layer_anchor_bytes(const StateSpec& layer) {
  check(layer.anchor_bytes >= 0, "an anchor has no negative size");
  return aligned(static_cast<std::size_t>(layer.anchor_bytes));
}

StateCost state_cost(std::span<const StateSpec> layers) {
  StateCost cost;
  for (const StateSpec& layer : layers) {
    add(cost.anchor_bytes, layer_anchor_bytes(layer));
    for (const RowSpec& rows : layer.rows) {
      if (rows.bytes == 0) continue;
      check(rows.window != kSinceAnchor || !rows.read_in_pass,
            "rows of a chunk are read from the pass that makes them");
      const std::size_t group = cost.group_of(rows);
      if (group == cost.groups.size())
        cost.groups.push_back({.window = rows.window, .read_in_pass = rows.read_in_pass});
      add(cost.groups[group].block_bytes, stream_block_bytes(rows));
      if (rows.window == 0) add(cost.token_bytes, static_cast<std::size_t>(rows.bytes));
      if (rows.window == kSinceAnchor) add(cost.chunk_token_bytes, static_cast<std::size_t>(rows.bytes));
    }
  }
  return cost;
}

}  // namespace plait
