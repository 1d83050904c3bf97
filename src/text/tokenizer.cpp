// Tokenizer: what all kinds of vocabulary share: checks, special tokens, BOS and EOS. The kind itself is a TokenModel.
#include "text/tokenizer.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <unordered_set>

#include "text/pre_tables.h"
#include "text/special_tokens.h"
#include "text/token_model.h"

namespace plait {
namespace {

class VocabularyTokenizer final : public Tokenizer {
 public:
  explicit VocabularyTokenizer(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)), special_(vocabulary_) {}

  Result<void> load(const auto& make_model) {
    Result<std::unique_ptr<TokenModel>> model = make_model(vocabulary_);
    if (!model) return fail(model.error());
    model_ = std::move(*model);
    return {};
  }

  Result<std::vector<Token>> encode(std::string_view text, const EncodeOptions& options) const override;
  std::string piece(Token token, bool special) const override;
  int size() const override { return static_cast<int>(vocabulary_.tokens.size()); }
  const Vocabulary& vocabulary() const override { return vocabulary_; }
  bool is_end(Token token) const override { return special_.is_end(token); }
  bool drops_first_space() const override { return vocabulary_.model == "llama" && vocabulary_.add_space_prefix != 0; }
  bool adds_bos() const override { return first_token() >= 0; }

 private:
  // What encode(add_special) puts first and last; -1: nothing. The flags have been set by complete().
  Token first_token() const {
    if (vocabulary_.add_bos <= 0) return -1;
    return vocabulary_.model == "bert" ? vocabulary_.cls : vocabulary_.bos;
  }
  Token last_token() const {
    if (vocabulary_.model == "bert") return vocabulary_.add_sep > 0 ? vocabulary_.separator : -1;
    return vocabulary_.add_eos > 0 ? vocabulary_.eos : -1;
  }

  Vocabulary vocabulary_;
  SpecialTokens special_;
  std::unique_ptr<TokenModel> model_;
};

Result<std::vector<Token>> VocabularyTokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  if (text.size() > std::numeric_limits<std::int32_t>::max() / 4) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("a text of {} bytes cannot be tokenized at once; the most is {}", text.size(),
                            std::numeric_limits<std::int32_t>::max() / 4));
  }
  std::vector<Token> out;
  if (options.add_special && first_token() >= 0) out.push_back(first_token());
  bool begins = true;
  for (const TextPart& part : special_.split(text, options.parse_special)) {
    if (part.token >= 0) {
      out.push_back(part.token);
    } else if (Result<void> done = model_->encode(part.text, begins, out); !done) {
      return fail(done.error());
    }
    begins = part.token >= 0;
  }
  if (options.add_special && last_token() >= 0) out.push_back(last_token());
  return out;
}

std::string VocabularyTokenizer::piece(Token token, bool special) const {
  if (token < 0 || token >= size()) return {};
  switch (token_type(vocabulary_, token)) {
    case TokenType::kControl:
    case TokenType::kUnknown:
      return special ? vocabulary_.tokens[static_cast<std::size_t>(token)] : std::string();
    case TokenType::kUserDefined:
      return vocabulary_.tokens[static_cast<std::size_t>(token)];
    case TokenType::kNormal:
    case TokenType::kUnused:
    case TokenType::kByte:
      break;
  }
  return model_->bytes(token);
}

struct NamedId {
  std::string_view key;
  Token Vocabulary::*id;
};

// "seperator" is how files spell it.
constexpr std::array<NamedId, 9> kNamedIds = {{{"bos_token_id", &Vocabulary::bos},
                                               {"eos_token_id", &Vocabulary::eos},
                                               {"eot_token_id", &Vocabulary::eot},
                                               {"eom_token_id", &Vocabulary::eom},
                                               {"unknown_token_id", &Vocabulary::unknown},
                                               {"seperator_token_id", &Vocabulary::separator},
                                               {"padding_token_id", &Vocabulary::padding},
                                               {"cls_token_id", &Vocabulary::cls},
                                               {"mask_token_id", &Vocabulary::mask}}};

Result<void> check_lists(const Vocabulary& vocabulary) {
  const std::size_t count = vocabulary.tokens.size();
  if (count == 0) return fail(ErrorCode::kCorrupt, "tokenizer.ggml.tokens: there are no tokens");
  if (count > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max() / 4)) {
    return fail(ErrorCode::kUnsupported, fmt::format("tokenizer.ggml.tokens: {} tokens are more than fit ids", count));
  }
  const auto wrong_length = [&](std::string_view key, std::size_t length) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("{}: {} entries for the {} of tokenizer.ggml.tokens", key, length, count));
  };
  if (!vocabulary.scores.empty() && vocabulary.scores.size() != count) {
    return wrong_length("tokenizer.ggml.scores", vocabulary.scores.size());
  }
  if (!vocabulary.types.empty() && vocabulary.types.size() != count) {
    return wrong_length("tokenizer.ggml.token_type", vocabulary.types.size());
  }
  std::unordered_set<std::string_view> seen(count);
  for (std::size_t id = 0; id < count; ++id) {
    if (vocabulary.tokens[id].empty() || seen.insert(vocabulary.tokens[id]).second) continue;
    return fail(
        ErrorCode::kCorrupt,
        fmt::format("tokenizer.ggml.tokens: token {} is spelt as an earlier one is; wanted every token once", id));
  }
  return {};
}

Result<void> check_ids(const Vocabulary& vocabulary) {
  const auto count = static_cast<Token>(vocabulary.tokens.size());
  const auto out_of_range = [&](std::string_view key, Token id) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("tokenizer.ggml.{}: {} is no token id; there are {} tokens", key, id, count));
  };
  for (const NamedId& named : kNamedIds) {
    const Token id = vocabulary.*named.id;
    if (id < -1 || id >= count) return out_of_range(named.key, id);
  }
  for (const Token id : vocabulary.more_end_tokens) {
    if (id < 0 || id >= count) return out_of_range("eog_token_ids", id);
  }
  return {};
}

// The id of a control token by its spelling, for files that leave a key out; -1: there is none.
Token control_token(const Vocabulary& vocabulary, std::string_view text) {
  for (std::size_t i = 0; i < vocabulary.tokens.size(); ++i) {
    const auto id = static_cast<Token>(i);
    if (vocabulary.tokens[i] == text && token_type(vocabulary, id) != TokenType::kNormal) return id;
  }
  return -1;
}

void set_default(auto& value, int fallback) {
  if (value < 0) value = fallback;
}

// Fills in what the file does not say, by kind and family.
void complete(Vocabulary& v, std::vector<std::string>* notes) {
  if (v.model == "llama") {
    set_default(v.add_bos, 1);
    set_default(v.add_space_prefix, 1);
    if (v.bos < 0) v.bos = control_token(v, "<s>");
    if (v.eos < 0) v.eos = control_token(v, "</s>");
    if (v.unknown < 0) v.unknown = control_token(v, "<unk>");
  } else if (v.model == "bert") {
    set_default(v.add_bos, 1);
    set_default(v.add_sep, 1);
    if (v.cls < 0) v.cls = v.bos >= 0 ? v.bos : control_token(v, "[CLS]");
    if (v.separator < 0) v.separator = control_token(v, "[SEP]");
    if (v.unknown < 0) v.unknown = control_token(v, "[UNK]");
  } else if (v.model == "gpt2") {
    if (v.pre.empty()) {
      v.pre = "default";
      if (notes != nullptr) {
        notes->push_back(
            "The file names no pre-tokenizer (tokenizer.ggml.pre), so 'default' is taken; if the model was trained "
            "with "
            "another, its answers suffer.");
      }
    }
    const PreName* pre = find_pre_name(v.pre);
    set_default(v.add_bos, pre != nullptr && pre->add_bos ? 1 : 0);
  }
  set_default(v.add_bos, 0);
  set_default(v.add_eos, 0);
  set_default(v.add_sep, 0);
  set_default(v.add_space_prefix, 0);
}

// A file that asks for a token must name it; a default that finds none is nothing.
Result<void> check_asked(const Vocabulary& v) {
  const Token first = v.model == "bert" ? (v.cls >= 0 ? v.cls : v.bos) : v.bos;
  if (v.add_bos == 1 && first < 0 && v.model == "gpt2") {
    return fail(ErrorCode::kCorrupt,
                "tokenizer.ggml.add_bos_token: asks for a BOS, but tokenizer.ggml.bos_token_id is missing");
  }
  if (v.add_eos == 1 && v.eos < 0 && v.model != "bert") {
    return fail(ErrorCode::kCorrupt,
                "tokenizer.ggml.add_eos_token: asks for an EOS, but tokenizer.ggml.eos_token_id is missing");
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> make_tokenizer(Vocabulary vocabulary, std::vector<std::string>* notes) {
  using Make = Result<std::unique_ptr<TokenModel>> (*)(const Vocabulary&);
  struct Kind {
    std::string_view model;
    Make make;
  };
  constexpr std::array<Kind, 4> kKinds = {
      {{"gpt2", make_bpe}, {"llama", make_sentence_piece}, {"bert", make_word_piece}, {"rwkv", make_world}}};
  const Kind* kind = nullptr;
  for (const Kind& each : kKinds) {
    if (each.model == vocabulary.model) kind = &each;
  }
  if (kind == nullptr) {
    return fail(
        ErrorCode::kUnsupported,
        fmt::format("tokenizer.ggml.model: '{}' is not known; known are gpt2, llama, bert, rwkv", vocabulary.model));
  }
  for (const auto check : {check_lists, check_ids, check_asked}) {
    if (Result<void> done = check(vocabulary); !done) return fail(done.error());
  }
  complete(vocabulary, notes);
  auto tokenizer = std::make_unique<VocabularyTokenizer>(std::move(vocabulary));
  if (Result<void> done = tokenizer->load(kind->make); !done) return fail(done.error());
  return std::unique_ptr<Tokenizer>(std::move(tokenizer));
}

}  // namespace plait
