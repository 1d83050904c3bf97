// SentencePiece's BPE: merges neighbours by the score of what they make; what stays unknown is written in byte tokens.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <unordered_map>

#include "text/merge.h"
#include "text/token_model.h"

namespace plait {
namespace {

// By the lead byte alone: invalid bytes join what follows, as the byte tokens of a text come out the same anyway.
std::size_t length_by_lead(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

class SentencePiece final : public TokenModel {
 public:
  explicit SentencePiece(const Vocabulary& vocabulary)
      : vocabulary_(vocabulary), space_prefix_(vocabulary.add_space_prefix != 0) {}

  Result<void> load();
  Result<void> encode(std::string_view text, bool begins, std::vector<Token>& out) const override;
  std::string bytes(Token token) const override;

 private:
  Token find(std::string_view text) const;
  void spell(std::string_view text, std::vector<Token>& out) const;

  const Vocabulary& vocabulary_;
  bool space_prefix_;
  std::unordered_map<std::string_view, Token> ids_;  // Tokens that ordinary text may become.
  std::size_t longest_ = 0;
  std::array<Token, 256> byte_ids_{};
};

Token SentencePiece::find(std::string_view text) const {
  if (text.size() > longest_) return -1;
  const auto found = ids_.find(text);
  return found == ids_.end() ? -1 : found->second;
}

Result<void> SentencePiece::load() {
  if (vocabulary_.scores.empty()) {
    return fail(ErrorCode::kCorrupt, "tokenizer.ggml.scores: missing; model 'llama' merges by them");
  }
  byte_ids_.fill(-1);
  ids_.reserve(vocabulary_.tokens.size());
  for (std::size_t i = 0; i < vocabulary_.tokens.size(); ++i) {
    const auto id = static_cast<Token>(i);
    const std::string& text = vocabulary_.tokens[i];
    if (std::isnan(vocabulary_.scores[i])) {
      return fail(ErrorCode::kCorrupt, fmt::format("tokenizer.ggml.scores: entry {} is not a number", i));
    }
    const TokenType type = token_type(vocabulary_, id);
    const int byte = byte_of_token(text);
    if (byte >= 0 && (type == TokenType::kByte || vocabulary_.types.empty())) {
      byte_ids_[static_cast<std::size_t>(byte)] = id;
    } else if ((type == TokenType::kNormal || type == TokenType::kUserDefined) && !text.empty()) {
      ids_.emplace(text, id);
      longest_ = std::max(longest_, text.size());
    }
  }
  const auto missing = std::find(byte_ids_.begin(), byte_ids_.end(), -1);
  if (missing != byte_ids_.end() && vocabulary_.unknown < 0) {
    return fail(ErrorCode::kCorrupt, fmt::format("tokenizer.ggml.tokens: byte token <0x{:02X}> is missing, and "
                                                 "tokenizer.ggml.unknown_token_id names no token to take instead",
                                                 missing - byte_ids_.begin()));
  }
  return {};
}

void SentencePiece::spell(std::string_view text, std::vector<Token>& out) const {
  for (const char byte : text) {
    const Token id = byte_ids_[static_cast<unsigned char>(byte)];
    if (id < 0) return out.push_back(vocabulary_.unknown);
    out.push_back(id);
  }
}

Result<void> SentencePiece::encode(std::string_view text, bool begins, std::vector<Token>& out) const {
  std::string escaped = escape_spaces(text);
  if (begins && space_prefix_) escaped.insert(0, "▁");
  std::vector<Symbol> symbols;
  symbols.reserve(escaped.size());
  for (std::size_t at = 0; at < escaped.size();) {
    const std::size_t length = std::min(length_by_lead(escaped[at]), escaped.size() - at);
    const Token id = find(std::string_view(escaped).substr(at, length));
    symbols.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(length), id, -1, -1});
    at += length;
  }
  merge_symbols(symbols, [&](const Symbol& left, const Symbol& right) {
    const Token id = find(std::string_view(escaped).substr(left.begin, std::size_t{left.length} + right.length));
    return id < 0 ? Join{} : Join{-static_cast<double>(vocabulary_.scores[static_cast<std::size_t>(id)]), id, true};
  });
  for (const Symbol& symbol : symbols) {
    if (symbol.length == 0) continue;
    if (symbol.id >= 0) {
      out.push_back(symbol.id);
    } else {
      spell(std::string_view(escaped).substr(symbol.begin, symbol.length), out);
    }
  }
  return {};
}

std::string SentencePiece::bytes(Token token) const {
  const std::string& text = vocabulary_.tokens[static_cast<std::size_t>(token)];
  const TokenType type = token_type(vocabulary_, token);
  if (type == TokenType::kUnused) return {};
  const int byte = byte_of_token(text);
  if (byte >= 0 && (type == TokenType::kByte || vocabulary_.types.empty()))
    return std::string(1, static_cast<char>(byte));
  return unescape_spaces(text);
}

}  // namespace

Result<std::unique_ptr<TokenModel>> make_sentence_piece(const Vocabulary& vocabulary) {
  auto model = std::make_unique<SentencePiece>(vocabulary);
  if (Result<void> done = model->load(); !done) return fail(done.error());
  return std::unique_ptr<TokenModel>(std::move(model));
}

}  // namespace plait
