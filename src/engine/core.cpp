// Core: the step loop.
#include "engine/core.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/float_mode.h"
#include "engine/answer.h"
#include "engine/channel.h"

namespace plait {

// One request: its tokens are in its sequence while it is admitted, and in `tokens` otherwise.
struct Core::Task {
  Task(Request asked, std::vector<Token> prompt, const CoreParts& parts, std::function<void()> waker,
       std::atomic<int>& open)
      : request(std::move(asked)),
        tokens(std::move(prompt)),
        channel(parts.queue_events, request.on_event, std::move(waker), open),
        answer(answer_options(parts), channel.events) {}

  AnswerOptions answer_options(const CoreParts& parts) const {
    const int prompt_tokens = static_cast<int>(tokens.size());
    const int room = parts.context - prompt_tokens;
    return {.prompt_tokens = prompt_tokens,
            .max_tokens = request.max_tokens < 0 ? room : std::min(room, request.max_tokens),
            .tokenizer = parts.tokenizer,
            .special = request.special,
            .ignore_end = request.ignore_end,
            .stop = request.stop};
  }

  const Request request;
  std::vector<Token> tokens;
  Sequence* sequence = nullptr;
  bool waiting = true;  // Counted in waiting_.
  Channel channel;
  Answer answer;
  Choice choice;               // Of the step under way.
  std::optional<Error> error;  // Instead.
};

Core::Core(CoreParts parts)
    : parts_(std::move(parts)),
      most_tokens_(parts_.cache->cost().tokens_that_fit(parts_.cache->stats().budget_bytes)),
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

Result<void> Core::check_request(const Request& request, std::span<const Token> prompt) const {
  if (auto checked = check_sampling(request.sampling, parts_.vocabulary); !checked) return checked;
  if (auto checked = check_stop_strings(request.stop); !checked) return checked;
  if (request.max_tokens < -1)
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("max_tokens is {}, wanted -1 (as many as fit) or a count", request.max_tokens));
  if (request.logprobs && (*request.logprobs < 0 || *request.logprobs > 100))
    return fail(ErrorCode::kInvalidArgument, fmt::format("logprobs is {}, wanted 0 to 100", *request.logprobs));
  if (request.prompt_logprobs || request.embedding != Pooling::kNone)
    return fail(ErrorCode::kUnsupported, "prompt_logprobs and embedding are not there yet");
  if (prompt.empty()) return fail(ErrorCode::kInvalidArgument, "the prompt has no tokens, wanted at least one");
  for (std::size_t i = 0; i < prompt.size(); ++i) {
    if (prompt[i] < 0 || prompt[i] >= parts_.vocabulary)
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("token {} of the prompt is {}, wanted 0 to {}", i + 1, prompt[i], parts_.vocabulary - 1));
  }
  if (prompt.size() >= static_cast<std::size_t>(parts_.context))
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("the prompt has {} tokens, which leaves no room for an answer in a context of {}",
                            prompt.size(), parts_.context));
  if (static_cast<int>(prompt.size()) > most_tokens_)
    return fail(ErrorCode::kNoMemory, fmt::format("the prompt has {} tokens, there is memory for the rows of {}",
                                                  prompt.size(), most_tokens_));
  return {};
}

Result<Stream> Core::submit(Request request, std::vector<Token> prompt) {
  if (auto checked = check_request(request, prompt); !checked) return fail(checked.error());
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
  if (!std::exchange(task.waiting, false)) return;
  waiting_.fetch_sub(1);
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
  for (const int i : planned.pause) give_up_blocks(task(i));
  for (const int i : planned.admit) {
    task(i).sequence = parts_.cache->open(task(i).tokens);
    task(i).answer.begin();
    taken_up(task(i));
  }
  if (!planned.work.empty()) compute(planned);
  return !planned.work.empty() || !planned.outgrown.empty();
}

void Core::compute(const Plan& planned) {
  work_.clear();
  wanting_.clear();
  for (const Portion& portion : planned.work) {
    Task& task = *live_[static_cast<std::size_t>(portion.entry)];
    work_.push_back({.sequence = task.sequence, .count = portion.count});
    if (task.sequence->computed() + portion.count == task.sequence->known()) wanting_.push_back(&task);
  }
  const auto done = parts_.step(
      work_, [&](int index, std::span<float> logits) { choose(*wanting_[static_cast<std::size_t>(index)], logits); });
  for (const Portion& portion : planned.work) {
    Task& task = *live_[static_cast<std::size_t>(portion.entry)];
    if (!done) {
      finish(task, FinishReason::kError, done.error());
      continue;
    }
    parts_.cache->commit(task.sequence, portion.count);
    task.answer.progress(task.sequence->computed());
  }
  if (!done) return;
  for (Task* task : wanting_) deliver(*task);
}

void Core::choose(Task& task, std::span<float> logits) {
  if (!task.answer.wants_tokens()) return;
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

void Core::deliver(Task& task) {
  if (task.error) return finish(task, FinishReason::kError, std::move(task.error));
  if (!task.answer.wants_tokens()) return finish(task, FinishReason::kLength);
  const Token token = task.choice.token;
  if (const auto reason = task.answer.take(std::move(task.choice))) return finish(task, *reason);
  task.sequence->append(token);
}

void Core::give_up_blocks(Task& task) {
  if (task.sequence == nullptr) return;
  const std::span<const Token> tokens = task.sequence->tokens();
  task.tokens.assign(tokens.begin(), tokens.end());
  parts_.cache->close(task.sequence);
  task.sequence = nullptr;
}

void Core::finish(Task& task, FinishReason reason, std::optional<Error> error) {
  give_up_blocks(task);
  taken_up(task);
  task.answer.finish(reason, std::move(error));
}

}  // namespace plait
