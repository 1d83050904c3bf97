// Detokenizer: tokens to text as they come, holding back bytes that do not yet form a whole character.
#include "text/detokenizer.h"

#include "base/utf8.h"

namespace plait {

Detokenizer::Detokenizer(const Tokenizer& tokenizer, bool special, bool drop_first_space)
    : tokenizer_(tokenizer), special_(special), drop_space_(drop_first_space) {}

std::string Detokenizer::add(Token token) {
  std::string piece = tokenizer_.piece(token, special_);
  if (drop_space_ && !piece.empty()) {
    if (piece.front() == ' ') piece.erase(0, 1);
    drop_space_ = false;
  }
  held_ += piece;
  const std::size_t whole = held_.size() - unfinished_tail(held_);
  std::string shown = replace_invalid_utf8(std::string_view(held_).substr(0, whole));
  held_.erase(0, whole);
  return shown;
}

std::string Detokenizer::finish() {
  std::string shown = replace_invalid_utf8(held_);
  held_.clear();
  return shown;
}

}  // namespace plait
