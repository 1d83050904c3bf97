// WordPiece, as BERT: words in lower case without accents, each cut into the longest tokens from the left.
#include <string>
#include <unordered_map>

#include "base/utf8.h"
#include "text/byte_trie.h"
#include "text/token_model.h"
#include "text/unicode.h"

namespace plait {
namespace {

// Files write the begin of a word as U+2581, where BERT's own lists write ## before all that is none.
constexpr std::string_view kWordBegin = "▁";

bool is_ideograph(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B820 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

std::vector<TrieEntry> normal_tokens(const Vocabulary& vocabulary) {
  std::vector<TrieEntry> entries;
  for (std::size_t i = 0; i < vocabulary.tokens.size(); ++i) {
    const auto id = static_cast<Token>(i);
    if (token_type(vocabulary, id) == TokenType::kNormal) entries.push_back({vocabulary.tokens[i], id});
  }
  return entries;
}

class WordPiece final : public TokenModel {
 public:
  explicit WordPiece(const Vocabulary& vocabulary)
      : vocabulary_(vocabulary),
        lowercase_(vocabulary.lowercase != 0),
        strip_accents_(vocabulary.strip_accents < 0 ? lowercase_ : vocabulary.strip_accents != 0),
        trie_(normal_tokens(vocabulary)) {}

  Result<void> encode(std::string_view text, bool begins, std::vector<Token>& out) const override;
  std::string bytes(Token token) const override;

 private:
  std::vector<std::string> words(std::string_view text) const;
  void encode_word(const std::string& word, std::vector<Token>& out) const;

  const Vocabulary& vocabulary_;
  bool lowercase_, strip_accents_;
  ByteTrie trie_;
};

// White space parts words; punctuation, ASCII symbols and ideographs are words of their own.
std::vector<std::string> WordPiece::words(std::string_view text) const {
  const std::string clean = repair_utf8(text);
  std::vector<std::string> out;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) out.push_back(std::string(kWordBegin) + word);
    word.clear();
  };
  for (std::size_t at = 0; at < clean.size();) {
    const DecodedCharacter next = decode_utf8(clean, at);
    at += static_cast<std::size_t>(next.length);
    char32_t c = strip_accents_ && next.valid ? base_character(next.value) : next.value;
    if (is_white_space(c)) {
      end_word();
      continue;
    }
    if (!next.valid || c == 0 || c == kReplacementCharacter || is_control(c)) continue;
    if (strip_accents_ && is_mark(c)) continue;
    const bool alone = is_punctuation(c) || (c < 0x7F && is_symbol(c)) || is_ideograph(c);
    if (lowercase_) c = to_lower(c);
    if (alone) end_word();
    append_utf8(word, c);
    if (alone) end_word();
  }
  end_word();
  return out;
}

// A word of which any part is unknown is one unknown token.
void WordPiece::encode_word(const std::string& word, std::vector<Token>& out) const {
  const std::size_t before = out.size();
  for (std::size_t at = 0; at < word.size();) {
    const TrieEntry match = trie_.longest(word, at);
    if (match.id < 0) {
      out.resize(before);
      return out.push_back(vocabulary_.unknown);
    }
    out.push_back(match.id);
    at += match.text.size();
  }
}

Result<void> WordPiece::encode(std::string_view text, bool /*begins*/, std::vector<Token>& out) const {
  for (const std::string& word : words(text)) encode_word(word, out);
  return {};
}

std::string WordPiece::bytes(Token token) const {
  if (token_type(vocabulary_, token) == TokenType::kUnused) return {};
  return unescape_spaces(vocabulary_.tokens[static_cast<std::size_t>(token)]);
}

}  // namespace

Result<std::unique_ptr<TokenModel>> make_word_piece(const Vocabulary& vocabulary) {
  if (vocabulary.unknown < 0) {
    return fail(ErrorCode::kCorrupt,
                "tokenizer.ggml.unknown_token_id: missing; model 'bert' needs it for words it cannot cut");
  }
  return std::unique_ptr<TokenModel>(std::make_unique<WordPiece>(vocabulary));
}

}  // namespace plait
