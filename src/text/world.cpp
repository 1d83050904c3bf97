// RWKV's World vocabulary: byte strings, always the longest that the text continues with.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "text/byte_trie.h"
#include "text/token_model.h"

namespace plait {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// Files write tokens as the inside of a Python bytes literal. What is no escape is taken as it stands.
std::string unescape_literal(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char next = at + 1 < text.size() ? text[at + 1] : '\0';
    if (text[at] != '\\' || next == '\0') {
      out.push_back(text[at]);
      continue;
    }
    ++at;
    const bool hex =
        next == 'x' && at + 2 < text.size() && hex_digit(text[at + 1]) >= 0 && hex_digit(text[at + 2]) >= 0;
    if (hex) {
      out.push_back(static_cast<char>(hex_digit(text[at + 1]) * 16 + hex_digit(text[at + 2])));
      at += 2;
    } else {
      out.push_back(next == 't' ? '\t' : next == 'n' ? '\n' : next == 'r' ? '\r' : next);
    }
  }
  return out;
}

std::vector<std::string> unescape_tokens(const Vocabulary& vocabulary) {
  std::vector<std::string> out;
  out.reserve(vocabulary.tokens.size());
  for (const std::string& token : vocabulary.tokens) out.push_back(unescape_literal(token));
  return out;
}

std::vector<TrieEntry> plain_tokens(const Vocabulary& vocabulary, const std::vector<std::string>& bytes) {
  std::vector<TrieEntry> entries;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto id = static_cast<Token>(i);
    const TokenType type = token_type(vocabulary, id);
    if (type == TokenType::kNormal || type == TokenType::kUserDefined) entries.push_back({bytes[i], id});
  }
  return entries;
}

class World final : public TokenModel {
 public:
  explicit World(const Vocabulary& vocabulary)
      : vocabulary_(vocabulary), bytes_(unescape_tokens(vocabulary)), trie_(plain_tokens(vocabulary, bytes_)) {}

  Result<void> check_bytes() const {
    for (int byte = 0; byte < 256; ++byte) {
      const char text = static_cast<char>(byte);
      if (vocabulary_.unknown < 0 && trie_.longest({&text, 1}, 0).id < 0) {
        return fail(ErrorCode::kCorrupt,
                    fmt::format("tokenizer.ggml.tokens: the token of byte 0x{:02X} is missing, and "
                                "tokenizer.ggml.unknown_token_id names no token to take instead",
                                byte));
      }
    }
    return {};
  }

  Result<void> encode(std::string_view text, bool /*begins*/, std::vector<Token>& out) const override {
    for (std::size_t at = 0; at < text.size();) {
      const TrieEntry match = trie_.longest(text, at);
      out.push_back(match.id < 0 ? vocabulary_.unknown : match.id);
      at += match.id < 0 ? 1 : match.text.size();
    }
    return {};
  }

  std::string bytes(Token token) const override { return bytes_[static_cast<std::size_t>(token)]; }

 private:
  const Vocabulary& vocabulary_;
  std::vector<std::string> bytes_;  // By id.
  ByteTrie trie_;
};

}  // namespace

Result<std::unique_ptr<TokenModel>> make_world(const Vocabulary& vocabulary) {
  auto model = std::make_unique<World>(vocabulary);
  if (Result<void> done = model->check_bytes(); !done) return fail(done.error());
  return std::unique_ptr<TokenModel>(std::move(model));
}

}  // namespace plait
