// Log-probabilities of tokens in OpenAI's two shapes.
#include "server/token_scores.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"

namespace plait {
namespace {

using Json = nlohmann::ordered_json;

double reported(double logprob) { return std::max(logprob, kLeastLogprob); }

Json entry(const Engine& engine, Token token, double logprob) {
  const std::string bytes = engine.token_bytes(token);
  Json numbers = Json::array();
  for (const char byte : bytes) numbers.push_back(static_cast<unsigned char>(byte));
  return {{"token", replace_invalid_utf8(bytes)}, {"logprob", reported(logprob)}, {"bytes", std::move(numbers)}};
}

std::string key_of(const Engine& engine, Token token) {
  const std::string bytes = engine.token_bytes(token);
  if (replace_invalid_utf8(bytes) == bytes) return bytes;
  std::string key = "bytes:";
  for (const char byte : bytes) key += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  return key;
}

}  // namespace

Json chat_score(const Engine& engine, Token token, const ScoredChoice& choice) {
  Json score = entry(engine, token, choice.logprob);
  Json& best = score["top_logprobs"] = Json::array();
  for (const ScoredToken& other : choice.alternatives) best.push_back(entry(engine, other.token, other.logprob));
  return score;
}

void ScoreColumns::clear() {
  json_ = {{"tokens", Json::array()},
           {"token_logprobs", Json::array()},
           {"top_logprobs", Json::array()},
           {"text_offset", Json::array()}};
}

void ScoreColumns::add(const ScoredToken& token, bool scored, std::span<const ScoredToken> alternatives,
                       std::size_t characters) {
  const std::string key = key_of(engine_, token.token);
  Json best;
  if (scored) {
    best = Json::object();
    for (const ScoredToken& other : alternatives) {
      const std::string name = key_of(engine_, other.token);
      if (!best.contains(name)) best[name] = reported(other.logprob);  // The best of those that are spelt alike.
    }
    if (!best.contains(key)) best[key] = reported(token.logprob);
  }
  json_["tokens"].push_back(key);
  json_["token_logprobs"].push_back(scored ? Json(reported(token.logprob)) : Json(nullptr));
  json_["top_logprobs"].push_back(std::move(best));
  json_["text_offset"].push_back(offset_);
  offset_ += characters;
}

Json ScoreColumns::take() {
  Json taken = std::move(json_);
  clear();
  return taken;
}

std::size_t count_characters(std::string_view bytes) {
  return static_cast<std::size_t>(std::count_if(
      bytes.begin(), bytes.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0u) != 0x80u; }));
}

}  // namespace plait
