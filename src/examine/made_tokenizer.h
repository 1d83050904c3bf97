// The tokenizer that goes with a made model: byte-level BPE, any text, any size.
#pragma once

#include <vector>

#include "io/gguf_writer.h"
#include "plait/result.h"

namespace plait {

// Fewest tokens it needs.
inline constexpr int kLeastMadeVocabulary = 256 + 3;

// Metadata of a tokenizer with exactly `vocabulary` tokens: 256 bytes, <|endoftext|>, <|im_start|>, <|im_end|>, a space
// with a letter (merged from the two), and words that no text leads to.
Result<std::vector<GgufEntry>> made_tokenizer(int vocabulary);

}  // namespace plait
