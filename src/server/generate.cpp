// generate(): the loop between streams and a dialect.
#include "server/generate.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "server/reasoning.h"

namespace plait {
namespace {

// What wakes a handler: an event of any of its streams, or its client's end.
class Doorbell {
 public:
  void ring() {
    const std::lock_guard lock(mutex_);
    rung_ = true;
    condition_.notify_one();
  }
  // False: the time is over.
  bool wait(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    const bool rung = condition_.wait_for(lock, time, [&] { return rung_; });
    rung_ = false;
    return rung;
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
  };
  void drain(int choice);
  void hand_over(int choice, const Event& event);
  void say(int choice, std::string text, std::string reasoning, const Event* event);
  void cancel_all();

  Service& service_;
  Reply& reply_;
  const GenerateOptions& options_;
  const GenerateSink& sink_;
  Doorbell bell_;
  std::vector<Choice> choices_;
  int open_ = 0;
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
  const std::chrono::milliseconds patience(service_.keep_alive_ms);
  bool cancelled = false;
  while (open_ > 0) {  // To the last event of each: until then a stream may ring.
    if (!cancelled && (reply_.gone() || error_)) {
      cancelled = true;
      cancel_all();
    }
    if (!bell_.wait(patience) && sink_.keep_alive && !cancelled) sink_.keep_alive();
    for (int i = 0; i < static_cast<int>(choices_.size()); ++i) drain(i);
  }
  reply_.on_gone({});
  if (error_) return fail(*error_);
  return {};
}

void Run::cancel_all() {
  for (Choice& choice : choices_) choice.stream.cancel();
}

void Run::drain(int choice) {
  Stream& stream = choices_[static_cast<std::size_t>(choice)].stream;
  while (auto event = stream.next_within(0)) {
    hand_over(choice, *event);
    if (error_ || reply_.gone()) bell_.ring();  // The others are to be cancelled.
  }
}

void Run::hand_over(int choice, const Event& event) {
  ReasoningSplitter& splitter = choices_[static_cast<std::size_t>(choice)].splitter;
  if (event.kind == Event::Kind::kPrefill) {
    if (choice == 0 && sink_.prefill) sink_.prefill(event.prompt_done, event.prompt_total);
    if (event.prompt_scores.empty()) return;
    return say(choice, {}, {}, &event);
  }
  auto [text, reasoning] = splitter.add(event.text);
  if (event.kind == Event::Kind::kToken) return say(choice, std::move(text), std::move(reasoning), &event);
  auto [last_text, last_reasoning] = splitter.finish();
  text += last_text;
  reasoning += last_reasoning;
  if (!text.empty() || !reasoning.empty()) say(choice, std::move(text), std::move(reasoning), nullptr);
  --open_;
  service_.metrics.finished(event.finish, event.usage);
  if (event.finish == FinishReason::kError && !error_) error_ = event.error;
  if (event.finish != FinishReason::kError && sink_.finish) sink_.finish(choice, event);
}

void Run::say(int choice, std::string text, std::string reasoning, const Event* event) {
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
