// The tokens of one pass, and where each sequence's past lies.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/tensor.h"
#include "base/token.h"

namespace plait {

constexpr int kBlockTokens = 16;   // Tokens of a block of rows.
constexpr int kMaxRowStreams = 4;  // Row streams that one layer may have.

// Tokens of a chunk of a recurrence (anchored-recurrence.md 1): one block. Part of the arithmetic.
constexpr int kChunkTokens = 16;
static_assert(kChunkTokens == kBlockTokens);

constexpr int kSinceAnchor = -1;  // A window: only the rows of the chunk under way are read again.

// What one token appends to one stream of a layer.
struct RowSpec {
  int bytes = 0;   // A block takes 16 * bytes; its inside is the mixer's business.
  int window = 0;  // A token reads itself and the window - 1 rows before. Zero: all rows. Or kSinceAnchor.
  // The pass that makes rows also reads them from their blocks. Otherwise rows that no later pass reads get no block.
  bool read_in_pass = true;
};

// What one layer needs to remember for one sequence. It may ask for any of it, or nothing.
struct StateSpec {
  RowSpec rows[kMaxRowStreams];
  int anchor_bytes = 0;  // One immutable record at multiples of kChunkTokens. Zero: none.
};

// A place to leave a new anchor.
struct AnchorOut {
  int position = 0;
  int slot = 0;
};

// Consecutive tokens of one sequence.
struct Segment {
  int begin = 0;  // Its rows of the batch.
  int count = 0;
  int past = 0;  // Its tokens already computed.
  // For each group of row streams, its blocks in order: block i holds positions [16 i, 16 i + 16). Reaches over the
  // segment's own tokens. -1: rows that nobody reads after this pass, or any more; they are not written.
  std::vector<std::vector<int>> blocks;
  // Slot of the anchor at the last multiple of kChunkTokens up to `past`, one number for all layers that have anchors;
  // -1: the zero state.
  int anchor_in = -1;
  // Where to leave anchors: ascending multiples of kChunkTokens in (past, past + count], the last one of them included.
  // The first slot may be anchor_in itself: then nobody needs the old one.
  std::vector<AnchorOut> anchors_out;
};

struct Batch {
  std::vector<Token> tokens;
  std::vector<int> positions;  // One a token: its place in its sequence.
  std::vector<Segment> segments;
  std::vector<int> outputs;  // Rows that are wanted at the end, ascending.
};

// The memory of one row stream of a layer, for all sequences: block number b lies at offset + b * stride.
struct RowStream {
  Buffer* buffer = nullptr;
  std::size_t offset = 0;
  std::size_t stride = 0;
  std::size_t block_bytes = 0;  // Of this stream, a multiple of 64.
  int group = 0;                // Which of a segment's block lists is meant.
};

struct LayerState {
  RowStream rows[kMaxRowStreams];
  Buffer* anchors = nullptr;  // Slot s lies at anchor_offset + s * anchor_stride.
  std::size_t anchor_offset = 0;
  std::size_t anchor_stride = 0;
  std::size_t anchor_bytes = 0;  // Of this layer, a multiple of 64.
};

}  // namespace plait
