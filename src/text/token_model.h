// TokenModel: how one kind of vocabulary cuts text that holds no special tokens. One file a kind; chosen in
// tokenizer.cpp.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace plait {

class TokenModel {
 public:
  virtual ~TokenModel() = default;
  // Appends the tokens of `text`. `begins`: nothing, or a special token, stands before it.
  virtual Result<void> encode(std::string_view text, bool begins, std::vector<Token>& out) const = 0;
  // The bytes of a token of type normal, byte or unused.
  virtual std::string bytes(Token token) const = 0;
};

// The vocabulary must outlive the model; its lists have been checked against each other, its ids against their number.
Result<std::unique_ptr<TokenModel>> make_bpe(const Vocabulary& vocabulary);             // "gpt2"
Result<std::unique_ptr<TokenModel>> make_sentence_piece(const Vocabulary& vocabulary);  // "llama"
Result<std::unique_ptr<TokenModel>> make_word_piece(const Vocabulary& vocabulary);      // "bert"
Result<std::unique_ptr<TokenModel>> make_world(const Vocabulary& vocabulary);           // "rwkv"

inline TokenType token_type(const Vocabulary& vocabulary, Token token) {
  return vocabulary.types.empty() ? TokenType::kNormal : vocabulary.types[static_cast<std::size_t>(token)];
}

// The byte that a token of type byte stands for, by its spelling <0xHH>; -1 if it is not spelt so.
int byte_of_token(std::string_view text);

// SentencePiece writes a space as U+2581.
std::string escape_spaces(std::string_view text);
std::string unescape_spaces(std::string_view text);

}  // namespace plait
