// generate(): the loop between streams and a dialect.
#include "server/generate.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "server/reasoning.h"

namespace plait {
namespace {

using Clock = std::chrono::steady_clock;

// Events of one choice that are handed over before the others, the client and the clock are looked after.
constexpr int kAtOnce = 8;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

// What wakes a handler: an event of any of its streams, or its client's end.
class Doorbell {
 public:
  void ring() {
    const std::lock_guard lock(mutex_);
    rung_ = true;
    condition_.notify_one();
  }
  void wait_until(Clock::time_point end) {
    std::unique_lock lock(mutex_);
    condition_.wait_until(lock, end, [&] { return rung_; });
    rung_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  bool rung_ = false;
};

class Run {
 public:
  Run(Service& service, Reply& reply, const GenerateOptions& options, const GenerateSink& sink)
      : service_(service), reply_(reply), options_(options), sink_(sink) {}

  Result<void> operator()(std::vector<Request> requests);

 private:
  struct Choice {
    Stream stream;
    ReasoningSplitter splitter;
    std::optional<Clock::time_point> last_token = std::nullopt;
  };
  void drain(int choice);
  void hand_over(int choice, const Event& event);
  void say(int choice, std::string text, std::string reasoning, const Event* event);
  void cancel_all();
  void keep_alive();
  void note_token(Choice& choice);

  Service& service_;
  Reply& reply_;
  const GenerateOptions& options_;
  const GenerateSink& sink_;
  Doorbell bell_;
  std::vector<Choice> choices_;
  int open_ = 0;
  bool cancelled_ = false;
  const std::chrono::milliseconds patience_{service_.keep_alive_ms};
  const Clock::time_point begun_ = Clock::now();
  Clock::time_point said_ = begun_;
  std::optional<Error> error_;
};

Result<void> Run::operator()(std::vector<Request> requests) {
  for (Request& request : requests) {
    request.on_event = [this] { bell_.ring(); };
    Result<Stream> stream = service_.engine.submit(std::move(request));
    if (!stream) {
      error_ = stream.error();
      break;
    }
    choices_.push_back({std::move(*stream), ReasoningSplitter(options_.split_reasoning, options_.starts_in_reasoning)});
    ++open_;
  }
  reply_.on_gone([this] { bell_.ring(); });
  while (open_ > 0) {  // To the last event of each: until then a stream may ring.
    if (!cancelled_ && (reply_.gone() || error_)) cancel_all();
    bell_.wait_until(said_ + patience_);
    for (int i = 0; i < static_cast<int>(choices_.size()); ++i) drain(i);
    if (error_ && !cancelled_) bell_.ring();  // The others are to be cancelled.
    if (open_ > 0) keep_alive();
  }
  reply_.on_gone({});
  if (error_) return fail(*error_);
  return {};
}

void Run::cancel_all() {
  cancelled_ = true;
  for (Choice& choice : choices_) choice.stream.cancel();
}

// Long prompts ring at every step, and tokens may have no text: what counts is when the client last heard anything.
void Run::keep_alive() {
  const Clock::time_point now = Clock::now();
  if (now < said_ + patience_) return;
  said_ = now;
  if (sink_.keep_alive && !cancelled_) sink_.keep_alive();
}

void Run::drain(int choice) {
  Stream& stream = choices_[static_cast<std::size_t>(choice)].stream;
  for (int i = 0; i < kAtOnce; ++i) {
    const auto event = stream.next_within(0);
    if (!event) return;
    hand_over(choice, *event);
  }
  bell_.ring();  // There may be more.
}

void Run::hand_over(int choice, const Event& event) {
  ReasoningSplitter& splitter = choices_[static_cast<std::size_t>(choice)].splitter;
  if (event.kind == Event::Kind::kPrefill) {
    if (choice == 0 && sink_.prefill && !error_) sink_.prefill(event.prompt_done, event.prompt_total);
    if (event.prompt_scores.empty()) return;
    return say(choice, {}, {}, &event);
  }
  if (event.kind == Event::Kind::kToken) note_token(choices_[static_cast<std::size_t>(choice)]);
  auto [text, reasoning] = splitter.add(event.text);
  if (event.kind == Event::Kind::kToken) return say(choice, std::move(text), std::move(reasoning), &event);
  auto [last_text, last_reasoning] = splitter.finish();
  text += last_text;
  reasoning += last_reasoning;
  if (!text.empty() || !reasoning.empty()) say(choice, std::move(text), std::move(reasoning), nullptr);
  --open_;
  service_.metrics.finished(event.finish, event.usage, seconds_between(begun_, Clock::now()));
  if (event.finish == FinishReason::kError && !error_) error_ = event.error;
  if (!error_ && sink_.finish) sink_.finish(choice, event);
}

void Run::note_token(Choice& choice) {
  const Clock::time_point now = Clock::now();
  if (choice.last_token) service_.metrics.between_tokens(seconds_between(*choice.last_token, now));
  choice.last_token = now;
}

void Run::say(int choice, std::string text, std::string reasoning, const Event* event) {
  if (!text.empty() || !reasoning.empty()) said_ = Clock::now();
  if (sink_.piece && !error_) sink_.piece({choice, std::move(text), std::move(reasoning), event});
}

}  // namespace

Result<void> generate(Service& service, Reply& reply, std::vector<Request> requests, const GenerateOptions& options,
                      const GenerateSink& sink) {
  return Run(service, reply, options, sink)(std::move(requests));
}

bool ends_in_reasoning(std::string_view prompt) {
  while (!prompt.empty() && (prompt.back() == '\n' || prompt.back() == ' ')) prompt.remove_suffix(1);
  return prompt.ends_with("<think>");
}

}  // namespace plait
