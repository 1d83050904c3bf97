// SpecialTokens: which tokens are found by their spelling before anything else is tokenized, and which end a
// generation.
#pragma once

#include <string_view>
#include <vector>

#include "text/byte_trie.h"
#include "text/tokenizer.h"

namespace plait {

// A part of a text: a special token, or text between two of them.
struct TextPart {
  Token token = -1;  // -1: text.
  std::string_view text;
};

class SpecialTokens {
 public:
  // The vocabulary must outlive this.
  explicit SpecialTokens(const Vocabulary& vocabulary);

  // Cuts a text at its special tokens, leftmost first and the longest at each place. User-defined tokens always match,
  // control tokens only with `parse_special`. No part is empty.
  std::vector<TextPart> split(std::string_view text, bool parse_special) const;

  bool is_end(Token token) const;

 private:
  void take_space_after(std::string_view text, std::size_t& at, Token token) const;

  std::vector<bool> plain_;       // By id: matches in plain text.
  std::vector<bool> eats_space_;  // By id: white space after it belongs to it. Empty: none does.
  std::vector<Token> ends_;       // Sorted.
  ByteTrie trie_;
};

}  // namespace plait
