// Core: the step loop.
#include "engine/core.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/float_mode.h"
#include "engine/answer.h"
#include "engine/channel.h"
#include "engine/pooler.h"
#include "engine/request_check.h"

namespace plait {

// One request: its tokens are in its sequence while it is admitted, and in `tokens` otherwise.
struct Core::Task {
  Task(Request asked, std::vector<Token> prompt, const CoreParts& parts, std::function<void()> waker,
       std::atomic<int>& open)
      : request(std::move(asked)),
        tokens(std::move(prompt)),
        channel(parts.queue_events, request.on_event, std::move(waker), open),
        answer(answer_options(parts), channel.events) {
    if (request.embedding != Pooling::kNone) pooler.emplace(request.embedding);
  }

  AnswerOptions answer_options(const CoreParts& parts) const {
    const int prompt_tokens = static_cast<int>(tokens.size());
    const int room = parts.context - prompt_tokens;
    return {.prompt_tokens = prompt_tokens,
            .max_tokens = request.embedding != Pooling::kNone ? 0
                          : request.max_tokens < 0            ? room
                                                              : std::min(room, request.max_tokens),
            .tokenizer = parts.tokenizer,
            .special = request.special,
            .ignore_end = request.ignore_end,
            .stop = request.stop};
  }

  // Outputs that were there before, until a pause, are not wanted again.
  bool wants_all_outputs(int count) const {
    const int begin = sequence->computed();
    if (pooler) return pooler->wants_until(begin + count);
    return request.prompt_logprobs && begin + 1 < answer.prompt_tokens() && begin + count > most_computed;
  }

  const Request request;
  std::vector<Token> tokens;
  Sequence* sequence = nullptr;
  enum class Wait { kBeforeWork, kPaused, kNot } wait = Wait::kBeforeWork;  // Counted in waiting_, paused.
  int most_computed = 0;                                                    // Tokens, at any time.
  Channel channel;
  Answer answer;
  std::optional<Pooler> pooler;
  // Of the step under way.
  std::vector<ScoredChoice> scores;  // Of the prompt's next tokens.
  Choice choice;
  std::optional<Error> error;  // Instead.
};

Core::Core(CoreParts parts)
    : parts_(std::move(parts)),
      cache_bytes_(parts_.cache->stats().budget_bytes),
      most_tokens_(parts_.cache->cost().tokens_that_fit(cache_bytes_)),
      inbox_(static_cast<std::size_t>(parts_.queue_requests)),
      sampler_(parts_.vocabulary) {
  check(parts_.queue_events >= static_cast<int>(kEventsOfStep) && parts_.max_sequences <= parts_.step_tokens,
        "an engine's limits fit together");
  thread_ = std::thread([this] {
    const KeptThread kept = parts_.keep ? parts_.keep() : KeptThread();
    run();
  });
}

Core::~Core() {
  check(open_streams_.load() == 0, "an engine is closed after its streams");
  stopping_.store(true);
  inbox_.wake();
  thread_.join();
}

Result<Stream> Core::submit(Request request, std::vector<Token> prompt) {
  const RequestLimits limits{.vocabulary = parts_.vocabulary, .context = parts_.context, .most_tokens = most_tokens_};
  if (auto checked = check_request(request, prompt, limits); !checked) return fail(checked.error());
  if (waiting_.fetch_add(1) >= parts_.queue_requests) {
    waiting_.fetch_sub(1);
    return fail(ErrorCode::kBusy, fmt::format("the queue is full: {} requests wait", parts_.queue_requests));
  }
  auto task = std::make_unique<Task>(
      std::move(request), std::move(prompt), parts_, [this] { inbox_.wake(); }, open_streams_);
  Channel* channel = &task->channel;
  open_streams_.fetch_add(1);  // Before it can be abandoned.
  check(inbox_.push(std::move(task)), "the queue has room for all that may wait");
  return Stream(channel);
}

void Core::run() {
  const FloatMode mode;
  while (!stopping_.load()) {
    take_in();
    clear_up();
    if (!step()) inbox_.wait();
  }
}

void Core::take_in() {
  while (auto task = inbox_.try_pop()) tasks_.push_back(std::move(*task));
}

void Core::taken_up(Task& task) {
  const Task::Wait before = std::exchange(task.wait, Task::Wait::kNot);
  if (before == Task::Wait::kBeforeWork) waiting_.fetch_sub(1);
  if (before == Task::Wait::kPaused) counters_.paused.fetch_sub(1);
}

// Ends what nobody wants any more, and forgets what nobody looks at any more.
void Core::clear_up() {
  live_.clear();
  std::erase_if(tasks_, [&](const std::unique_ptr<Task>& task) {
    const bool abandoned = task->channel.abandoned.load();
    if (!task->answer.finished() && (abandoned || task->channel.cancelled.load())) finish(*task, FinishReason::kCancel);
    if (!task->answer.finished()) live_.push_back(task.get());
    return abandoned;
  });
}

void Core::make_entries() {
  entries_.clear();
  for (const Task* task : live_) {
    const bool blocked = task->channel.events.room() < kEventsOfStep;
    const Sequence* sequence = task->sequence;
    if (sequence != nullptr) {
      entries_.push_back({sequence->known(), sequence->computed(), true, blocked});
    } else {
      entries_.push_back({static_cast<int>(task->tokens.size()), 0, false, blocked});
    }
  }
}

// False when there was nothing to do.
bool Core::step() {
  make_entries();
  const CacheStats stats = parts_.cache->stats();
  const Plan planned = plan(entries_, {.step_tokens = parts_.step_tokens,
                                       .max_sequences = parts_.max_sequences,
                                       .total_bytes = stats.budget_bytes,
                                       .free_bytes = stats.free_bytes(),
                                       .cost = &parts_.cache->cost()});
  const auto task = [&](int i) -> Task& { return *live_[static_cast<std::size_t>(i)]; };
  for (const int i : planned.outgrown)
    finish(task(i), FinishReason::kLength,
           Error{ErrorCode::kNoMemory, fmt::format("its {} tokens and the next do not fit into memory for {}",
                                                   entries_[static_cast<std::size_t>(i)].known, most_tokens_)});
  for (const int i : planned.pause) pause(task(i));
  for (const int i : planned.admit) {
    task(i).sequence = parts_.cache->open(task(i).tokens);
    task(i).answer.begin();
    taken_up(task(i));
    counters_.running.fetch_add(1);
  }
  if (!planned.work.empty()) compute(planned);
  return !planned.work.empty() || !planned.outgrown.empty();
}

void Core::compute(const Plan& planned) {
  work_.clear();
  outputs_.clear();
  const auto task = [&](const Portion& portion) -> Task& { return *live_[static_cast<std::size_t>(portion.entry)]; };
  // Embeddings last, so that the rows that get logits stand side by side.
  for (const bool embedding : {false, true}) {
    for (const Portion& portion : planned.work) {
      if (task(portion).pooler.has_value() == embedding) add_work(task(portion), portion.count);
    }
  }
  const auto done = parts_.step(work_, [&](int index, std::span<float> row) {
    const Output& output = outputs_[static_cast<std::size_t>(index)];
    take_output(*output.task, output.position, row);
  });
  for (const Portion& portion : planned.work) {
    if (!done) {
      finish(task(portion), FinishReason::kError, done.error());
    } else {
      commit(task(portion), portion.count);
    }
  }
  if (!done) return;
  counters_.steps.fetch_add(1);
  for (const Portion& portion : planned.work) {
    Task& t = task(portion);
    if (t.error || t.sequence->computed() == t.sequence->known()) deliver(t);
  }
}

void Core::add_work(Task& task, int count) {
  const bool all = task.wants_all_outputs(count);
  work_.push_back({.sequence = task.sequence, .count = count, .all_outputs = all, .hidden = task.pooler.has_value()});
  const int begin = task.sequence->computed(), end = begin + count;
  for (int position = all ? begin : end - 1; position < end; ++position) {
    if (all || position + 1 == task.sequence->known()) outputs_.push_back({&task, position});
  }
}

void Core::take_output(Task& task, int position, std::span<float> row) {
  if (task.error) return;
  if (task.pooler) return task.pooler->add(position, row);
  if (position + 1 < task.sequence->known()) return score(task, position, row);
  if (task.answer.wants_tokens()) choose(task, row);
}

void Core::score(Task& task, int position, std::span<float> logits) {
  if (position < task.most_computed || position + 1 >= task.answer.prompt_tokens()) return;
  const Token next = task.sequence->tokens()[static_cast<std::size_t>(position) + 1];
  Result<ScoredChoice> scored = sampler_.score(logits, next, *task.request.prompt_logprobs, position + 1);
  if (scored) {
    task.scores.push_back(std::move(*scored));
  } else {
    task.error = scored.error();
  }
}

void Core::choose(Task& task, std::span<float> logits) {
  const Result<Token> token = sampler_.choose(logits, task.request.sampling, task.sequence->tokens());
  if (!token) {
    task.error = token.error();
    return;
  }
  task.choice = Choice();
  task.choice.token = *token;
  if (!task.request.logprobs) return;
  const double total = Sampler::log_sum_exp(logits);
  task.choice.logprob = static_cast<double>(logits[static_cast<std::size_t>(*token)]) - total;
  task.choice.alternatives = sampler_.best(logits, total, *task.request.logprobs);
}

void Core::commit(Task& task, int count) {
  const int before = task.sequence->computed(), after = before + count, prompt = task.answer.prompt_tokens();
  parts_.cache->commit(task.sequence, count);
  counters_.computed_tokens.fetch_add(static_cast<std::uint64_t>(count));
  const int again = std::min(after, task.most_computed) - before;
  if (again > 0) counters_.recomputed_tokens.fetch_add(static_cast<std::uint64_t>(again));
  if (task.most_computed < prompt && after >= prompt)
    counters_.prompt_tokens.fetch_add(static_cast<std::uint64_t>(prompt));
  task.most_computed = std::max(task.most_computed, after);
  note_memory();
  task.answer.progress(after, std::exchange(task.scores, {}));
}

void Core::deliver(Task& task) {
  if (task.error) return finish(task, FinishReason::kError, std::move(task.error));
  if (task.pooler) {
    Result<std::vector<float>> vector = task.pooler->vector();
    if (!vector) return finish(task, FinishReason::kError, vector.error());
    task.answer.embed(std::move(*vector));
    return finish(task, FinishReason::kStop);
  }
  if (!task.answer.wants_tokens()) return finish(task, FinishReason::kLength);
  const Token token = task.choice.token;
  const int before = task.answer.generated();
  const auto reason = task.answer.take(std::move(task.choice));
  counters_.generated_tokens.fetch_add(static_cast<std::uint64_t>(task.answer.generated() - before));
  if (reason) return finish(task, *reason);
  task.sequence->append(token);
}

void Core::pause(Task& task) {
  if (task.sequence == nullptr) return;
  give_up_blocks(task);
  task.wait = Task::Wait::kPaused;
  counters_.paused.fetch_add(1);
  counters_.pauses.fetch_add(1);
}

void Core::give_up_blocks(Task& task) {
  if (task.sequence == nullptr) return;
  const std::span<const Token> tokens = task.sequence->tokens();
  task.tokens.assign(tokens.begin(), tokens.end());
  parts_.cache->close(task.sequence);
  task.sequence = nullptr;
  counters_.running.fetch_sub(1);
  note_memory();
}

void Core::note_memory() { counters_.cache_used_bytes.store(parts_.cache->stats().used_bytes); }

void Core::finish(Task& task, FinishReason reason, std::optional<Error> error) {
  give_up_blocks(task);
  taken_up(task);
  task.answer.finish(reason, std::move(error));
}

}  // namespace plait
