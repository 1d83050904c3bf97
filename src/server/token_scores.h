// Log-probabilities of tokens in OpenAI's two shapes.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "plait/engine.h"

namespace plait {

// What is reported in place of minus infinity, which JSON has not.
constexpr double kLeastLogprob = -9999;

// The newer: {"token", "logprob", "bytes", "top_logprobs": [{"token", "logprob", "bytes"}, ...]}. A token that is a
// part of a character has U+FFFD for its text; its bytes are exact.
nlohmann::ordered_json chat_score(const Engine& engine, Token token, const ScoredChoice& choice);

// The older: {"tokens", "token_logprobs", "top_logprobs", "text_offset"}, lists with an entry for each token. A token
// that is a part of a character is written "bytes:\xe2\x82".
class ScoreColumns {
 public:
  explicit ScoreColumns(const Engine& engine) : engine_(engine) { clear(); }
  // Without a score for the first token of a prompt. The next token's text begins `characters` further on.
  void add(const ScoredToken& token, bool scored, std::span<const ScoredToken> alternatives, std::size_t characters);
  bool empty() const { return json_["tokens"].empty(); }
  nlohmann::ordered_json take();  // What came since the last time; offsets go on.

 private:
  void clear();

  const Engine& engine_;
  nlohmann::ordered_json json_;
  std::size_t offset_ = 0;
};

// Characters that begin in these bytes.
std::size_t count_characters(std::string_view bytes);

}  // namespace plait
