// Sequence: the tokens of one conversation, how many of them are computed, and the blocks and the anchor that hold what
// they left behind. Snapshot: the same at one position, kept.
#pragma once

#include <span>
#include <vector>

#include "backend/batch.h"
#include "base/token.h"

namespace plait {

// References to what resuming at a position takes (sharing.md 1).
struct Past {
  int position = 0;
  // For each group of row streams, block i holds positions [16 i, 16 i + 16). -1: not kept, nobody reads it any more.
  std::vector<std::vector<int>> blocks;
  int anchor = -1;  // Slot of the anchor at the last multiple of kChunkTokens up to `position`; -1: the zero state.
};

// Made, moved forward and closed by Cache; everybody else may look, and append tokens to be computed.
class Sequence {
 public:
  std::span<const Token> tokens() const { return tokens_; }  // Known: the prompt and what was chosen since.
  int known() const { return static_cast<int>(tokens_.size()); }
  int computed() const { return past_.position; }  // Of those, the first `computed` have their rows.
  int prepared() const { return prepared_; }       // Being computed by the step under way.
  // The blocks of one group of row streams, those of the step under way included.
  std::span<const int> blocks(int group) const { return past_.blocks[static_cast<std::size_t>(group)]; }
  int anchor() const { return past_.anchor; }

  void append(Token token) { tokens_.push_back(token); }

 private:
  friend class Cache;
  std::vector<Token> tokens_;
  Past past_;
  int prepared_ = 0;
  int uncertain_ = 0;            // Of those prepared.
  std::vector<AnchorOut> made_;  // By the step under way; the first slot may be past_.anchor.
};

// A position to which any sequence that begins alike can return. It holds references; nothing is copied.
class Snapshot {
 public:
  std::span<const Token> tokens() const { return tokens_; }
  int position() const { return past_.position; }

 private:
  friend class Cache;
  std::vector<Token> tokens_;
  Past past_;
};

// Blocks that hold the rows of so many tokens.
constexpr int blocks_for(int tokens) { return tokens / kBlockTokens + (tokens % kBlockTokens != 0 ? 1 : 0); }

}  // namespace plait
