// AnswerBudget, AnswerHold: what answers may take while they are made, asked for before anything is computed.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "plait/engine.h"
#include "server/errors.h"

namespace plait {

constexpr std::size_t kMostAnswerBytes = std::size_t{64} << 20;    // Of one request.
constexpr std::size_t kMostAnswersBytes = std::size_t{256} << 20;  // Of all that have log-probabilities, together.

// Any thread may call.
class AnswerBudget {
 public:
  explicit AnswerBudget(std::size_t most = kMostAnswersBytes) : left_(most) {}
  AnswerBudget(const AnswerBudget&) = delete;
  AnswerBudget& operator=(const AnswerBudget&) = delete;

  bool take(std::size_t bytes);
  void give_back(std::size_t bytes) { left_ += bytes; }
  std::size_t left() const { return left_; }

 private:
  std::atomic<std::size_t> left_;
};

// How a handler keeps what it is handed.
struct AnswerKeeping {
  bool whole = true;             // All of it, to its end. Else what waits in a stream's queue is all there is.
  std::size_t score_bytes = 16;  // Of one log-probability: as it comes, or as what it is made into.
};

// What the answers take at most, in bytes: all the tokens that they may have, each with its log-probabilities.
std::size_t most_answer_bytes(std::span<const Request> requests, int context, const AnswerKeeping& keeping);

// A request's share of the budget, until its handler ends.
class AnswerHold {
 public:
  explicit AnswerHold(AnswerBudget& budget) : budget_(budget) {}
  AnswerHold(const AnswerHold&) = delete;
  AnswerHold& operator=(const AnswerHold&) = delete;
  ~AnswerHold() { budget_.give_back(held_); }

  // The requests' prompts are tokens by now. `scores` and `length` are the fields that ask for log-probabilities and
  // for tokens: 400 names one of them where the request is too large at any time, 429 says that others have the memory.
  std::optional<HttpError> take(std::span<const Request> requests, int context, const AnswerKeeping& keeping,
                                std::string_view scores, std::string_view length);

 private:
  AnswerBudget& budget_;
  std::size_t held_ = 0;
};

}  // namespace plait
