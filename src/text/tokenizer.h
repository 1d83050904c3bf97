// Tokenizer: text to token ids, and each id to its bytes. The vocabulary's kind is chosen in make_tokenizer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/token.h"
#include "plait/result.h"

namespace plait {

enum class TokenType : std::int8_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6
};

// A vocabulary as plain data, whatever file it came from. Ids of -1 mean: has none.
struct Vocabulary {
  std::string model;  // "gpt2", "llama", "bert", "rwkv" (GGUF's tokenizer.ggml.model).
  std::string pre;    // Pre-tokenizer name; empty: the file names none.
  std::vector<std::string> tokens;
  std::vector<float> scores;        // Empty, or one a token.
  std::vector<TokenType> types;     // Empty, or one a token.
  std::vector<std::string> merges;  // "left right", best first.
  Token bos = -1, eos = -1, eot = -1, eom = -1, unknown = -1, separator = -1, padding = -1, cls = -1, mask = -1;
  std::vector<Token> more_end_tokens;  // End-of-generation ids that the file names by other keys.
  // -1: the file does not say; else 0 or 1.
  int add_bos = -1, add_eos = -1, add_sep = -1, add_space_prefix = -1, remove_extra_whitespaces = -1,
      ignore_merges = -1, lowercase = -1, strip_accents = -1;
  int nfc = -1;  // Normalize to NFC first; -1: as the maker of `pre` does. No file says it.
};

struct EncodeOptions {
  bool add_special = true;    // Add BOS, EOS, CLS, SEP as the vocabulary says.
  bool parse_special = true;  // Text that spells a control token becomes that token.
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  // Any bytes are accepted; what is not UTF-8 is handled as the vocabulary's kind does. Time is linear in the text.
  virtual Result<std::vector<Token>> encode(std::string_view text, const EncodeOptions& options) const = 0;
  // The bytes of one token: for a special token its text if `special`, else nothing. Empty for an id out of range.
  virtual std::string piece(Token token, bool special) const = 0;
  virtual int size() const = 0;
  virtual const Vocabulary& vocabulary() const = 0;
  // True for tokens that end a generation: eos, eot, eom and those found by their text.
  virtual bool is_end(Token token) const = 0;
  // SentencePiece: the whole text of a sequence drops one leading space.
  virtual bool drops_first_space() const = 0;
  // True if encode(add_special) puts a BOS (or CLS) first.
  virtual bool adds_bos() const = 0;
};

// Fails on vocabularies that break their own rules, and on pre-tokenizers and models it does not know (named, with the
// known ones). `notes` receives sentences worth telling the user ("the file names no pre-tokenizer ...").
Result<std::unique_ptr<Tokenizer>> make_tokenizer(Vocabulary vocabulary, std::vector<std::string>* notes = nullptr);

// The pieces that the pre-tokenizer `pre` cuts a text into; joined they are the text.
Result<std::vector<std::string>> split_text(std::string_view pre, std::string_view text);

}  // namespace plait
