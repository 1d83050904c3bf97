// Sequence: the tokens of one conversation, how many of them are computed, and the blocks that hold their rows.
#pragma once

#include <span>
#include <vector>

#include "backend/batch.h"
#include "base/token.h"

namespace plait {

// Made, moved forward and closed by Cache; everybody else may look, and append tokens to be computed.
class Sequence {
 public:
  std::span<const Token> tokens() const { return tokens_; }  // Known: the prompt and what was chosen since.
  int known() const { return static_cast<int>(tokens_.size()); }
  int computed() const { return computed_; }  // Of those, the first `computed` have their rows.
  int prepared() const { return prepared_; }  // Being computed by the step under way.
  // The blocks of one group of row streams: block i holds positions [16 i, 16 i + 16).
  std::span<const int> blocks(int group) const { return blocks_[static_cast<std::size_t>(group)]; }

  void append(Token token) { tokens_.push_back(token); }

 private:
  friend class Cache;
  std::vector<Token> tokens_;
  int computed_ = 0;
  int prepared_ = 0;
  std::vector<std::vector<int>> blocks_;  // One list a group.
};

// Blocks that hold the rows of so many tokens.
constexpr int blocks_for(int tokens) { return tokens / kBlockTokens + (tokens % kBlockTokens != 0 ? 1 : 0); }

}  // namespace plait
