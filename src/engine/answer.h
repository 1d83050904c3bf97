// Answer: chosen tokens become events: text, stop strings, figures, and the end.
#pragma once

#include <chrono>
#include <optional>

#include "decode/stop.h"
#include "engine/queue.h"
#include "plait/engine.h"
#include "text/detokenizer.h"

namespace plait {

struct Choice {
  Token token = 0;
  double logprob = 0;
  std::vector<ScoredToken> alternatives;
};

struct AnswerOptions {
  int prompt_tokens = 0;
  int max_tokens = 0;                    // Of the answer, what the context leaves included.
  const Tokenizer* tokenizer = nullptr;  // Null: the answer has no text.
  bool special = false;
  bool ignore_end = false;
  std::vector<std::string> stop;
};

// Pushes into a queue with room; the last event always goes in. Used by one thread.
class Answer {
 public:
  Answer(AnswerOptions options, BoundedQueue<Event>& events);

  void begin();  // Work on the prompt begins (again, after a pause).
  // So many tokens of the sequence are computed; the scores are of the prompt's next tokens, if they are wanted.
  void progress(int computed, std::vector<ScoredChoice> scores = {});
  // The token that was chosen. Returns the reason if the answer ends with it; finish() is then due.
  std::optional<FinishReason> take(Choice choice);
  void embed(std::vector<float> embedding) { embedding_ = std::move(embedding); }  // For the last event.
  void finish(FinishReason reason, std::optional<Error> error = std::nullopt);

  bool finished() const { return finished_; }
  bool wants_tokens() const { return options_.max_tokens > 0; }
  int prompt_tokens() const { return options_.prompt_tokens; }
  int generated() const { return generated_; }

 private:
  using Clock = std::chrono::steady_clock;
  Usage usage() const;

  AnswerOptions options_;
  BoundedQueue<Event>& events_;
  std::optional<Detokenizer> detokenizer_;
  StopMatcher matcher_;
  Clock::time_point submitted_ = Clock::now();
  std::optional<Clock::time_point> begun_, computed_, first_, last_;
  std::vector<float> embedding_;
  int reported_ = 0;
  int generated_ = 0;
  bool finished_ = false;
};

}  // namespace plait
