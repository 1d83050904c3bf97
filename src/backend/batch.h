// The tokens of one pass, and where each sequence's past lies.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/tensor.h"
#include "base/token.h"

namespace plait {

constexpr int kBlockTokens = 16;   // Tokens of a block of rows.
constexpr int kMaxRowStreams = 4;  // Row streams that one layer may have.

// What one token appends to one stream of a layer.
struct RowSpec {
  int bytes = 0;   // A block takes 16 * bytes; its inside is the mixer's business.
  int window = 0;  // Rows older than this are never read again. Zero: all rows are.
};

// What one layer needs to remember for one sequence. It may ask for any of it, or nothing.
struct StateSpec {
  RowSpec rows[kMaxRowStreams];
  int anchor_bytes = 0;  // One immutable record at every multiple of anchor_every. Zero: none.
  int anchor_every = 0;
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
  // segment's own tokens.
  std::vector<std::vector<int>> blocks;
  int anchor_in = -1;  // Slot of the anchor to start from; -1: the zero state.
  std::vector<AnchorOut> anchors_out;
};

struct Batch {
  std::vector<Token> tokens;
  std::vector<int> positions;  // One a token: its place in its sequence.
  std::vector<Segment> segments;
  std::vector<int> outputs;  // Rows whose logits are wanted, ascending.
};

// The memory of one row stream of a layer, for all sequences: block number b lies at offset + b * block_bytes.
struct RowStream {
  Buffer* buffer = nullptr;
  std::size_t offset = 0;
  std::size_t block_bytes = 0;
  int group = 0;  // Which of a segment's block lists is meant.
};

struct LayerState {
  RowStream rows[kMaxRowStreams];
  Buffer* anchors = nullptr;  // Slot s lies at anchor_offset + s * anchor_bytes.
  std::size_t anchor_offset = 0;
  std::size_t anchor_bytes = 0;
};

}  // namespace plait
