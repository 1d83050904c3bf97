// Answer: chosen tokens become events.
#include "engine/answer.h"

#include "base/check.h"

namespace plait {

Answer::Answer(AnswerOptions options, BoundedQueue<Event>& events)
    : options_(std::move(options)), events_(events), matcher_(std::move(options_.stop)) {
  if (options_.tokenizer != nullptr) detokenizer_.emplace(*options_.tokenizer, options_.special, false);
}

void Answer::begin() {
  if (!begun_) begun_ = Clock::now();
}

void Answer::progress(int computed, std::vector<ScoredChoice> scores) {
  const int done = std::min(computed, options_.prompt_tokens);
  check(done > reported_ || scores.empty(), "tokens are scored when they are computed for the first time");
  if (done <= reported_) return;
  reported_ = done;
  if (done == options_.prompt_tokens) computed_ = Clock::now();
  Event event;
  event.kind = Event::Kind::kPrefill;
  event.prompt_done = done;
  event.prompt_total = options_.prompt_tokens;
  event.prompt_scores = std::move(scores);
  check(events_.push(std::move(event)), "a step is made only with room for its events");
}

std::optional<FinishReason> Answer::take(Choice choice) {
  last_ = Clock::now();
  if (!first_) first_ = last_;
  const bool ends = options_.tokenizer != nullptr && options_.tokenizer->is_end(choice.token);
  if (ends && !options_.ignore_end) return FinishReason::kStop;
  ++generated_;
  Event event;
  event.kind = Event::Kind::kToken;
  event.token = choice.token;
  event.logprob = choice.logprob;
  event.alternatives = std::move(choice.alternatives);
  if (detokenizer_) event.text = matcher_.add(detokenizer_->add(choice.token));
  check(events_.push(std::move(event)), "a step is made only with room for its events");
  if (matcher_.stopped()) return FinishReason::kStop;
  if (generated_ == options_.max_tokens) return FinishReason::kLength;
  return std::nullopt;
}

void Answer::finish(FinishReason reason, std::optional<Error> error) {
  Event event;
  event.kind = Event::Kind::kFinish;
  if (detokenizer_) event.text = matcher_.add(detokenizer_->finish()) + matcher_.finish();
  event.finish = reason;
  if (reason == FinishReason::kStop) event.stop = matcher_.found();
  event.error = std::move(error);
  event.embedding = std::move(embedding_);
  event.usage = usage();
  events_.push_last(std::move(event));
  finished_ = true;
}

Usage Answer::usage() const {
  const auto seconds = [](Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
  };
  const auto rate = [&](int tokens, Clock::time_point from, Clock::time_point to) {
    return from < to ? tokens / seconds(from, to) : 0.0;
  };
  Usage usage;
  usage.prompt_tokens = options_.prompt_tokens;
  usage.generated_tokens = generated_;
  if (begun_) usage.queue_s = seconds(submitted_, *begun_);
  if (computed_) usage.prefill_tokens_per_s = rate(options_.prompt_tokens, *begun_, *computed_);
  if (first_) usage.first_token_s = seconds(submitted_, *first_);
  if (generated_ > 1) usage.decode_tokens_per_s = rate(generated_ - 1, *first_, *last_);
  return usage;
}

}  // namespace plait
