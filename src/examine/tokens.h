// What the commands tokenize and detokenize do: text to ids, ids to bytes, one at a time or a JSON line at a time.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plait/result.h"
#include "text/pretokenizer.h"
#include "text/tokenizer.h"

namespace plait {

// The tokenizer of a model file; `pre`, unless empty, in place of the pre-tokenizer that the file names, and then
// without the normalization that the file's would bring.
Result<std::unique_ptr<Tokenizer>> open_tokenizer(const std::string& path, std::string_view pre,
                                                  std::vector<std::string>* notes);

// "c3a9" to the two bytes.
Result<std::string> bytes_of_hex(std::string_view hex);

// A JSON array in one line.
std::string ids_to_json(std::span<const Token> ids);

// A line {"text" or "hex", "add_special", "parse_special"} to the JSON array of its ids. What a line leaves out is
// taken from `defaults`.
Result<std::string> tokenize_line(const Tokenizer& tokenizer, std::string_view line, const EncodeOptions& defaults);

// A line {"text" or "hex"} to the JSON array of its pieces.
Result<std::string> split_line(const PreTokenizer& splitter, std::string_view line);
// A text to the JSON array of its pieces.
Result<std::string> split_to_json(const PreTokenizer& splitter, std::string_view text);

struct DetokenizeOptions {
  bool special = true;            // Special tokens are spelt out.
  bool drop_first_space = false;  // As SentencePiece joins a whole text; nothing happens for other vocabularies.
};

// The bytes of the ids, joined. Fails on an id that the vocabulary does not have.
Result<std::string> detokenize(const Tokenizer& tokenizer, std::span<const Token> ids,
                               const DetokenizeOptions& options);

// A JSON array of ids to {"hex": their bytes}.
Result<std::string> detokenize_line(const Tokenizer& tokenizer, std::string_view line,
                                    const DetokenizeOptions& options);

}  // namespace plait
