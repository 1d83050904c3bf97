// Byte-pair encoding over byte letters, as GPT-2 and most models since: pre-tokenize, then merge by rank.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "base/utf8.h"
#include "text/byte_letters.h"
#include "text/merge.h"
#include "text/pair_table.h"
#include "text/pretokenizer.h"
#include "text/token_model.h"
#include "text/unicode.h"

namespace plait {
namespace {

class Bpe final : public TokenModel {
 public:
  Bpe(const Vocabulary& vocabulary, PreTokenizer pre) : vocabulary_(vocabulary), pre_(std::move(pre)) {
    nfc_ = vocabulary.nfc >= 0 ? vocabulary.nfc != 0 : pre_.family().nfc;
    ignore_merges_ = vocabulary.ignore_merges >= 0 ? vocabulary.ignore_merges != 0 : pre_.name().ignore_merges;
  }

  Result<void> load();
  Result<void> encode(std::string_view text, bool begins, std::vector<Token>& out) const override;
  std::string bytes(Token token) const override;

 private:
  Result<void> load_merges();
  Result<void> load_bytes();
  std::int32_t find(std::string_view text) const;
  std::int32_t intern(std::string text);
  void encode_piece(std::string_view piece, std::vector<Symbol>& symbols, std::vector<Token>& out) const;
  void make_symbols(std::string_view piece, std::vector<Symbol>& symbols) const;
  void spell(std::int32_t id, std::string_view text, std::vector<Token>& out) const;

  const Vocabulary& vocabulary_;
  PreTokenizer pre_;
  bool nfc_ = false;
  bool ignore_merges_ = false;
  std::unordered_map<std::string_view, std::int32_t> ids_;  // Tokens that ordinary text may become.
  // What merges make on the way but the vocabulary does not hold; numbered on from the tokens. Keys own the text.
  std::unordered_map<std::string, std::int32_t> steps_;
  PairTable pairs_;
  std::array<std::int32_t, 256> byte_ids_{};
  std::array<std::int32_t, 256> fallback_ids_{};  // <0xHH>, for vocabularies that are not byte-level.
};

std::int32_t Bpe::find(std::string_view text) const {
  const auto found = ids_.find(text);
  return found == ids_.end() ? -1 : found->second;
}

std::int32_t Bpe::intern(std::string text) {
  if (const std::int32_t id = find(text); id >= 0) return id;
  const auto next = static_cast<std::int32_t>(vocabulary_.tokens.size() + steps_.size());
  return steps_.try_emplace(std::move(text), next).first->second;
}

Result<void> Bpe::load() {
  ids_.reserve(vocabulary_.tokens.size());
  for (std::size_t i = 0; i < vocabulary_.tokens.size(); ++i) {
    const auto id = static_cast<Token>(i);
    const TokenType type = token_type(vocabulary_, id);
    if (type != TokenType::kControl && type != TokenType::kUnknown) ids_.emplace(vocabulary_.tokens[i], id);
  }
  if (Result<void> done = load_bytes(); !done) return done;
  return load_merges();
}

Result<void> Bpe::load_bytes() {
  bool any = false;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    const char text = static_cast<char>(byte);
    byte_ids_[byte] = find(bytes_to_letters({&text, 1}));
    fallback_ids_[byte] = find(fmt::format("<0x{:02X}>", byte));
    any |= byte_ids_[byte] >= 0;
  }
  if (!any && pre_.family().byte_level) {
    return fail(
        ErrorCode::kCorrupt,
        "tokenizer.ggml.tokens: none of the 256 single-byte tokens is there, which model 'gpt2' builds all text from");
  }
  return {};
}

Result<void> Bpe::load_merges() {
  pairs_.reserve(vocabulary_.merges.size());
  for (std::size_t rank = 0; rank < vocabulary_.merges.size(); ++rank) {
    const std::string& merge = vocabulary_.merges[rank];
    const std::size_t space = merge.find(' ', 1);  // A left side may itself begin with a space.
    if (space == std::string::npos || space + 1 >= merge.size()) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("tokenizer.ggml.merges: entry {} is {} bytes without a space between two "
                              "parts; wanted \"left right\"",
                              rank, merge.size()));
    }
    std::string left = merge.substr(0, space), right = merge.substr(space + 1);
    std::string both = left + right;
    const std::int32_t joined = intern(std::move(both));
    const std::int32_t first = intern(std::move(left));
    pairs_.insert(first, intern(std::move(right)), {static_cast<std::int32_t>(rank), joined});
  }
  return {};
}

void Bpe::make_symbols(std::string_view piece, std::vector<Symbol>& symbols) const {
  symbols.clear();
  for (std::size_t at = 0; at < piece.size();) {
    std::size_t length = 1;
    std::int32_t id;
    if (pre_.family().byte_level) {
      id = byte_ids_[static_cast<unsigned char>(piece[at])];
    } else {
      length = static_cast<std::size_t>(decode_utf8(piece, at).length);
      id = find(piece.substr(at, length));
    }
    symbols.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(length), id, -1, -1});
    at += length;
  }
}

// What has become no token is written with single-byte tokens; bytes for which there is none are left out.
void Bpe::spell(std::int32_t id, std::string_view text, std::vector<Token>& out) const {
  const auto& singles = pre_.family().byte_level ? byte_ids_ : fallback_ids_;
  const auto size_before = out.size();
  for (const char byte : text) {
    const std::int32_t single = singles[static_cast<unsigned char>(byte)];
    if (single >= 0) out.push_back(single);
  }
  const bool unknown = id < 0 && out.size() == size_before && !pre_.family().byte_level && vocabulary_.unknown >= 0;
  if (unknown) out.push_back(vocabulary_.unknown);
}

void Bpe::encode_piece(std::string_view piece, std::vector<Symbol>& symbols, std::vector<Token>& out) const {
  if (ignore_merges_) {
    const std::int32_t whole = find(pre_.family().byte_level ? bytes_to_letters(piece) : std::string(piece));
    if (whole >= 0) return out.push_back(whole);
  }
  make_symbols(piece, symbols);
  merge_symbols(symbols, [&](const Symbol& left, const Symbol& right) {
    const PairTable::Value* found = left.id < 0 || right.id < 0 ? nullptr : pairs_.find(left.id, right.id);
    return found == nullptr ? Join{} : Join{static_cast<double>(found->rank), found->id, true};
  });
  const auto tokens = static_cast<std::int32_t>(vocabulary_.tokens.size());
  for (const Symbol& symbol : symbols) {
    if (symbol.length == 0) continue;
    if (symbol.id >= 0 && symbol.id < tokens) {
      out.push_back(symbol.id);
    } else {
      spell(symbol.id, piece.substr(symbol.begin, symbol.length), out);
    }
  }
}

Result<void> Bpe::encode(std::string_view text, bool /*begins*/, std::vector<Token>& out) const {
  std::string clean = repair_utf8(text);
  if (nfc_) clean = normalize_nfc(clean);
  if (pre_.name().escape_spaces) clean = escape_spaces(clean);
  const Result<std::vector<std::string_view>> pieces = pre_.split(clean);
  if (!pieces) return fail(pieces.error());
  std::vector<Symbol> symbols;
  for (const std::string_view piece : *pieces) encode_piece(piece, symbols, out);
  return {};
}

std::string Bpe::bytes(Token token) const {
  const std::string& text = vocabulary_.tokens[static_cast<std::size_t>(token)];
  if (token_type(vocabulary_, token) == TokenType::kByte) {
    if (const int byte = byte_of_token(text); byte >= 0) return std::string(1, static_cast<char>(byte));
  }
  if (!pre_.family().byte_level) return pre_.name().escape_spaces ? unescape_spaces(text) : text;
  return letters_to_bytes(text);
}

}  // namespace

Result<std::unique_ptr<TokenModel>> make_bpe(const Vocabulary& vocabulary) {
  Result<PreTokenizer> pre = PreTokenizer::make(vocabulary.pre);
  if (!pre) return fail(pre.error());
  auto model = std::make_unique<Bpe>(vocabulary, std::move(*pre));
  if (Result<void> done = model->load(); !done) return fail(done.error());
  return std::unique_ptr<TokenModel>(std::move(model));
}

}  // namespace plait
