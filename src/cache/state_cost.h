// StateCost: the bytes that a sequence's memory takes at each point of its life. Integers only.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "backend/batch.h"

namespace plait {

// Row streams of one kind: they share block numbers.
struct StreamGroup {
  int window = 0;               // As in RowSpec.
  bool read_in_pass = true;     // The same.
  std::size_t block_bytes = 0;  // Of one block number, over all its streams.

  // Rows of the past that the token at `position` reads.
  int rows_read(int position) const;
  bool same_kind(const RowSpec& rows) const { return window == rows.window && read_in_pass == rows.read_in_pass; }
  // Index of the block with the oldest row that the token at `position`, or a later one, reads.
  int first_block(int position) const;
  // The most blocks that a sequence holds in it, those taken by a step included.
  int most_blocks() const;
};

// A step on `count` tokens after the first `computed`; the last `uncertain` of them may not be accepted.
struct StepSpan {
  int computed = 0;
  int count = 0;
  int uncertain = 0;

  int least() const { return computed + count - uncertain; }  // Where the sequence may stand after it: from here
  int end() const { return computed + count; }                // to here.
  // Indices [first, last) of the blocks that it takes in a group: rows that nobody reads later get none.
  int first_new_block(const StreamGroup& group) const;
  int last_new_block() const;
  // Multiples of kChunkTokens at which it leaves anchors: from the first to the last; none if first > last.
  int first_anchor() const;
  int last_anchor() const { return end() / kChunkTokens * kChunkTokens; }
  int anchors() const;
  // The anchor that it starts from is of no use after it.
  bool outlives_anchor() const { return least() / kChunkTokens > computed / kChunkTokens; }
};

// All sums are the greatest size_t if they are more than that.
struct StateCost {
  std::vector<StreamGroup> groups;
  std::size_t anchor_bytes = 0;  // Of one slot, over all layers.

  // Of one more token of context, without the rounding of blocks, in streams that keep all rows.
  std::size_t token_bytes = 0;
  // Of one token in the streams that keep only the chunk under way.
  std::size_t chunk_token_bytes = 0;

  // Which group a row stream belongs to; their number: none yet.
  std::size_t group_of(const RowSpec& rows) const;
  // A sequence with so many tokens computed that shares nothing.
  std::size_t held(int computed) const;
  // Of the past, read for one more token: rows and an anchor.
  std::size_t read(int computed) const;
  // What a step takes beside that. `own_anchor`: nobody else holds the sequence's anchor.
  std::size_t wanted(const StepSpan& step, bool own_anchor = true) const;
  // The most that a sequence holds on its way to so many tokens, without drafts.
  std::size_t context(int tokens) const;
  // The most tokens whose context() is at most that.
  int tokens_that_fit(std::size_t bytes) const;
};

StateCost state_cost(std::span<const StateSpec> layers);

// Of one token in all of a layer's streams.
std::size_t row_bytes(const StateSpec& layer);
// Bytes of one block of a stream, and of a layer's part of an anchor; both are aligned.
std::size_t stream_block_bytes(const RowSpec& rows);
std::size_t layer_anchor_bytes(const StateSpec& layer);

}  // namespace plait
