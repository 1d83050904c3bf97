// Engine: a loaded model, its stepper, and the core that runs requests over them.
#include "plait/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "base/memory.h"
#include "engine/core.h"
#include "engine/load.h"
#include "engine/memory_plan.h"
#include "engine/prompt.h"
#include "engine/recommended.h"
#include "engine/run_report.h"
#include "engine/stepper.h"
#include "text/detokenizer.h"

namespace plait {

struct Engine::State {
  Loaded loaded;
  Stepper stepper;
  ModelInfo info;
  std::unique_ptr<Core> core;  // Last, so that its thread ends first.

  PromptTools tools() const { return {loaded.tokenizer.get(), loaded.chat_template, info.context}; }
};

namespace {

struct Bound {
  const char* field;
  int value, low, high;
};

Result<void> check_options(const EngineOptions& options) {
  if (options.model.empty()) return fail(ErrorCode::kInvalidArgument, "model is empty, wanted a path");
  const Bound bounds[] = {{"threads", options.threads, 0, 1024},
                          {"context", options.context.value_or(0), 0, 1 << 24},
                          {"cache_sequences", options.cache_sequences, 1, 1 << 16},
                          {"step_tokens", options.step_tokens, 1, 1 << 16},
                          {"max_sequences", options.max_sequences, 1, 1 << 16},
                          {"queue_requests", options.queue_requests, 1, 1 << 20},
                          {"queue_events", options.queue_events, 2, 1 << 20}};
  for (const Bound& b : bounds) {
    if (b.value < b.low || b.value > b.high)
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("{} is {}, wanted {} to {}", b.field, b.value, b.low, b.high));
  }
  return {};
}

RowType row_type(CacheType type) {
  switch (type) {
    case CacheType::kF32:
      return RowType::kF32;
    case CacheType::kF16:
      return RowType::kF16;
    case CacheType::kBF16:
      return RowType::kBF16;
  }
  return RowType::kF16;
}

LoadOptions load_options(const EngineOptions& options) {
  return {.path = options.model,
          .cpu = {.threads = options.threads,
                  .isa = options.isa,
                  .pin = options.pin_threads,
                  .activations = options.activations},
          .file = {.use_mmap = options.use_mmap, .lock_memory = options.lock_memory},
          .key_type = row_type(options.cache_type_k),
          .value_type = row_type(options.cache_type_v),
          .check_values = options.check_values,
          .repack_cache = options.repack_cache,
          .tokenizer = options.tokenizer,
          .progress = options.load_progress};
}

ModelInfo describe(Loaded& loaded, const Stepper& stepper, const MemoryPlan& memory) {
  const ModelSpec& spec = loaded.model->spec();
  ModelInfo info;
  info.architecture = spec.architecture;
  info.name = spec.name;
  info.vocabulary = spec.vocabulary;
  info.width = spec.dim;
  info.chat_template = loaded.chat_template;
  if (loaded.tokenizer) {
    const Vocabulary& vocabulary = loaded.tokenizer->vocabulary();
    if (vocabulary.bos >= 0) info.bos_text = loaded.tokenizer->piece(vocabulary.bos, true);
    if (vocabulary.eos >= 0) info.eos_text = loaded.tokenizer->piece(vocabulary.eos, true);
  }
  info.trained_context = spec.trained_context;
  info.context = memory.context;
  info.parameters = spec.parameters;
  info.weight_bytes = spec.weight_bytes;
  info.step_weight_bytes = spec.step_weight_bytes;
  info.cache_bytes = stepper.cache().stats().budget_bytes;
  info.cache_token_bytes = stepper.cache().cost().token_bytes;
  info.isa = loaded.backend->name();
  info.threads = loaded.backend->threads();
  info.activations = loaded.backend->activations();
  info.sampling = recommended_sampling(*loaded.file, loaded.notes);
  info.notes = loaded.notes;
  info.plan = report_lines(run_report(*loaded.file, *loaded.backend));
  info.plan.push_back(memory_line(
      {.weight_bytes = info.weight_bytes, .cache_bytes = info.cache_bytes, .scratch_bytes = stepper.scratch_bytes()}));
  return info;
}

}  // namespace

Engine::Engine(std::unique_ptr<State> state) : state_(std::move(state)) {}
Engine::Engine(Engine&& other) noexcept = default;
Engine& Engine::operator=(Engine&& other) noexcept = default;
Engine::~Engine() = default;

Result<Engine> Engine::open(const EngineOptions& options) {
  if (auto checked = check_options(options); !checked) return fail(checked.error());
  Result<Loaded> loaded = load_model(load_options(options));
  if (!loaded) return fail(loaded.error());
  const MemoryRequest request{
      .context = options.context,
      .cache_bytes = options.cache_bytes,
      .welcome_sequences = options.cache_sequences,
      .scratch_bytes = Stepper::scratch_bytes(*loaded->model, *loaded->backend, options.step_tokens)};
  Result<MemoryPlan> memory = plan_memory(loaded->model->spec(), request, available_memory(), &loaded->notes);
  if (!memory) return fail(memory.error());
  Result<Stepper> stepper = Stepper::create(
      *loaded->model, *loaded->backend,
      {.cache_bytes = memory->cache_bytes, .max_tokens = options.step_tokens, .max_context = memory->context});
  if (!stepper) return fail(stepper.error());

  ModelInfo info = describe(*loaded, *stepper, *memory);
  info.max_sequences = std::min(options.max_sequences, options.step_tokens);
  auto state = std::make_unique<State>(State{std::move(*loaded), std::move(*stepper), std::move(info), nullptr});
  State* stable = state.get();
  try {
    state->core = std::make_unique<Core>(
        CoreParts{.cache = &state->stepper.cache(),
                  .step = [stable](std::span<const Work> work,
                                   const OutputSink& output) { return stable->stepper.step(work, output); },
                  .keep = [stable] { return stable->loaded.backend->keep_caller(); },
                  .tokenizer = state->loaded.tokenizer.get(),
                  .vocabulary = state->info.vocabulary,
                  .context = state->info.context,
                  .step_tokens = options.step_tokens,
                  .max_sequences = state->info.max_sequences,
                  .queue_requests = options.queue_requests,
                  .queue_events = options.queue_events});
  } catch (const std::system_error& error) {
    return fail(ErrorCode::kNoMemory, fmt::format("the thread that steps cannot be started: {}", error.what()));
  }
  return Engine(std::move(state));
}

const ModelInfo& Engine::info() const { return state_->info; }

int Engine::open_streams() const { return state_->core->open_streams(); }

std::vector<std::vector<std::uint64_t>> Engine::expert_counts() const { return state_->loaded.model->expert_counts(); }

Result<Stream> Engine::submit(Request request) {
  Result<Prompt> prompt = prepare_prompt(request, state_->tools());
  if (!prompt) return fail(prompt.error());
  return state_->core->submit(std::move(request), std::move(prompt->tokens));
}

Result<Completion> Engine::generate(Request request, const std::function<void(const Event&)>& watch) {
  const bool scored = request.logprobs.has_value();
  Result<Stream> stream = submit(std::move(request));
  if (!stream) return fail(stream.error());
  Completion completion;
  while (auto event = stream->next()) {
    if (watch) watch(*event);
    completion.text += event->text;
    for (ScoredChoice& score : event->prompt_scores) completion.prompt_scores.push_back(std::move(score));
    if (event->kind == Event::Kind::kToken) {
      completion.tokens.push_back(event->token);
      if (scored) completion.logprobs.push_back({event->logprob, std::move(event->alternatives)});
    }
    if (event->kind != Event::Kind::kFinish) continue;
    if (event->finish == FinishReason::kError) return fail(*event->error);
    completion.finish = event->finish;
    completion.usage = event->usage;
    completion.embedding = std::move(event->embedding);
  }
  return completion;
}

Result<std::vector<Token>> Engine::tokenize(std::string_view text, bool add_special, bool parse_special) const {
  if (!state_->loaded.tokenizer)
    return fail(ErrorCode::kUnsupported, "there is no tokenizer: the engine was opened without");
  return state_->loaded.tokenizer->encode(text, {.add_special = add_special, .parse_special = parse_special});
}

std::string Engine::detokenize(const std::vector<Token>& tokens, bool special) const {
  if (!state_->loaded.tokenizer) return {};
  Detokenizer detokenizer(*state_->loaded.tokenizer, special, false);
  std::string text;
  for (const Token token : tokens) text += detokenizer.add(token);
  return text + detokenizer.finish();
}

std::string Engine::token_bytes(Token token) const {
  return state_->loaded.tokenizer ? state_->loaded.tokenizer->piece(token, true) : std::string();
}

Result<Prompt> Engine::prepare(const Request& request) const { return prepare_prompt(request, state_->tools()); }

EngineStats Engine::stats() const { return state_->core->stats(); }

Result<std::string> Engine::render(const Request& request) const { return render_prompt(request, state_->tools()); }

}  // namespace plait
