// Core: the engine behind its API. Takes requests in, steps, hands events out; one thread owns all mutable state.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "base/thread_plan.h"
#include "cache/cache.h"
#include "decode/sample.h"
#include "engine/counters.h"
#include "engine/queue.h"
#include "engine/scheduler.h"
#include "plait/engine.h"
#include "text/tokenizer.h"

namespace plait {

// As Stepper::step.
using OutputSink = std::function<void(int index, std::span<float> row)>;
using StepFunction = std::function<Result<void>(std::span<const Work> work, const OutputSink& output)>;

struct CoreParts {
  Cache* cache = nullptr;
  StepFunction step;
  std::function<KeptThread()> keep{};    // If set: called on the thread that steps, for as long as that lives.
  const Tokenizer* tokenizer = nullptr;  // Null: answers have no text.
  int vocabulary = 0;
  int context = 0;
  int step_tokens = 512;
  int max_sequences = 64;
  int queue_requests = 256;
  int queue_events = 256;
};

// Any thread may submit and read streams. The cache and `step` are used by the stepping thread alone.
class Core {
 public:
  explicit Core(CoreParts parts);
  ~Core();  // All streams must be gone.
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  // `prompt` is what the request's prompt became.
  Result<Stream> submit(Request request, std::vector<Token> prompt);
  int open_streams() const { return open_streams_.load(); }
  EngineStats stats() const { return counters_.read(waiting_.load(), cache_bytes_); }

 private:
  struct Task;
  void run();
  void take_in();
  void taken_up(Task& task);
  void clear_up();
  bool step();
  void make_entries();
  void compute(const Plan& plan);
  void add_work(Task& task, int count);
  void take_output(Task& task, int position, std::span<float> row);
  void score(Task& task, int position, std::span<float> logits);
  void choose(Task& task, std::span<float> logits);
  void commit(Task& task, int count);
  void deliver(Task& task);
  void pause(Task& task);
  void give_up_blocks(Task& task);
  void finish(Task& task, FinishReason reason, std::optional<Error> error = std::nullopt);
  void note_memory();

  CoreParts parts_;
  std::size_t cache_bytes_;
  int most_tokens_;  // Of one sequence that has all the memory for itself.
  BoundedQueue<std::unique_ptr<Task>> inbox_;
  std::atomic<int> open_streams_{0};
  std::atomic<int> waiting_{0};  // Submitted, and work on them has not begun.
  std::atomic<bool> stopping_{false};
  Counters counters_;

  // The stepping thread's.
  Sampler sampler_;
  std::vector<std::unique_ptr<Task>> tasks_;  // In order of arrival.
  std::vector<Task*> live_;                   // Those that are not finished; the scheduler's numbers count in it.
  std::vector<Entry> entries_;
  std::vector<Work> work_;
  struct Output {
    Task* task;
    int position;
  };
  std::vector<Output> outputs_;  // Of the step under way, in the order of its batch.
  std::thread thread_;
};

}  // namespace plait
