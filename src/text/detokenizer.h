// Detokenizer: tokens to text as they come, holding back bytes that do not yet form a whole character.
#pragma once

#include <string>

#include "text/tokenizer.h"

namespace plait {

class Detokenizer {
 public:
  // `special`: special tokens are spelt out. `drop_first_space`: as SentencePiece joins a whole text.
  Detokenizer(const Tokenizer& tokenizer, bool special, bool drop_first_space);

  // What may be shown after this token: whole characters only; bytes that can never become one are U+FFFD.
  std::string add(Token token);
  // What was held back at the end; an unfinished character becomes U+FFFD.
  std::string finish();

 private:
  const Tokenizer& tokenizer_;
  bool special_;
  bool drop_space_;
  std::string held_;
};

}  // namespace plait
