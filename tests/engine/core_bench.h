// A core over a fake model, and what its answers must be.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "engine/core.h"
#include "support/fake_model.h"
#include "support/sample_reference.h"

namespace plait {

struct Shape {
  int blocks = 64;
  int context = 256;
  int step_tokens = 64;
  int max_sequences = 8;
  int queue_requests = 64;
  int queue_events = 1000;
  bool recurrent = false;
};

struct Bench {
  explicit Bench(const Shape& shape) : model(shape.blocks, shape.recurrent) {
    core = std::make_unique<Core>(
        CoreParts{.cache = model.cache.get(),
                  .step = [this](auto work, const auto& logits) { return model.step(work, logits); },
                  .tokenizer = &model.tokenizer,
                  .vocabulary = FakeModel::kVocabulary,
                  .context = shape.context,
                  .step_tokens = shape.step_tokens,
                  .max_sequences = shape.max_sequences,
                  .queue_requests = shape.queue_requests,
                  .queue_events = shape.queue_events});
  }
  ~Bench() {
    core.reset();  // The stepping thread has ended: now the counts may be looked at.
    model.cache->check_integrity();
    EXPECT_EQ(model.cache->stats().used_bytes, 0u);
    EXPECT_EQ(model.cache->stats().sequences, 0);
  }
  Stream submit(const Request& request) {
    auto stream = core->submit(request, request.tokens);
    EXPECT_TRUE(stream) << stream.error().message;
    return std::move(*stream);
  }

  FakeModel model;
  std::unique_ptr<Core> core;
};

struct Collected {
  std::string text;
  std::vector<Token> tokens;
  std::vector<int> progress;
  std::vector<ScoredChoice> scores;
  std::vector<ScoredChoice> prompt_scores;
  Event finish;
};

inline Collected collect(Stream& stream) {
  Collected all;
  while (auto event = stream.next()) {
    all.text += event->text;
    if (event->kind == Event::Kind::kPrefill) {
      all.progress.push_back(event->prompt_done);
      for (const ScoredChoice& score : event->prompt_scores) all.prompt_scores.push_back(score);
    }
    if (event->kind == Event::Kind::kToken) {
      all.tokens.push_back(event->token);
      all.scores.push_back({event->logprob, event->alternatives});
    }
    if (event->kind == Event::Kind::kFinish) all.finish = *event;
  }
  EXPECT_TRUE(stream.finished());
  return all;
}

// Requests whose logits are numbers all the way.
inline Request request_of(std::uint64_t seed, int prompt_tokens, int max_tokens) {
  Request request;
  for (int i = 0; i < prompt_tokens; ++i)
    request.tokens.push_back(
        static_cast<Token>(random_bits(seed, static_cast<std::uint64_t>(i)) % FakeModel::kVocabulary));
  request.max_tokens = max_tokens;
  request.sampling.seed = seed;
  request.sampling.repeat_penalty = 1.1;
  return request;
}

// The answer by definition: no cache, no steps, nobody else.
struct Expected {
  std::vector<Token> tokens;
  FinishReason finish = FinishReason::kLength;
};
inline Expected expected_of(const Request& request, int context) {
  Expected expected;
  std::vector<Token> known = request.tokens;
  std::uint64_t hash = 0;
  for (const Token token : known) hash = random_bits(hash, static_cast<std::uint64_t>(token));
  int left = context - static_cast<int>(known.size());
  if (request.max_tokens >= 0) left = std::min(left, request.max_tokens);
  while (left-- > 0) {
    const std::vector<float> logits = FakeModel::logits_of(hash);
    if (std::isnan(logits[FakeModel::kPoison])) {
      expected.finish = FinishReason::kError;
      break;
    }
    const Token token = reference_choose(logits, request.sampling, known)->token;
    if (token == 0) {
      expected.finish = FinishReason::kStop;
      break;
    }
    known.push_back(token);
    expected.tokens.push_back(token);
    hash = random_bits(hash, static_cast<std::uint64_t>(token));
  }
  return expected;
}

inline std::string text_of(const std::vector<Token>& tokens) {
  const LetterTokenizer tokenizer(FakeModel::kVocabulary);
  std::string text;
  for (const Token token : tokens) text += tokenizer.piece(token, false);
  return text;
}

}  // namespace plait
