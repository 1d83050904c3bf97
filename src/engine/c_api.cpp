// The C API: translates between plait.h and engine.h.
#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "plait/engine.h"
#include "plait/plait.h"

struct plait_engine {
  plait::Engine engine;
};

struct plait_stream {
  plait::Stream stream;
  // What the last event's pointers point to.
  plait::Event event;
  std::vector<plait_scored_token> alternatives;  // Those of prompt_scores, too.
  std::vector<plait_scored_choice> prompt_scores;
};

namespace plait {
namespace {

// A thread's own, like errno: the one place where a C caller without a handle can look.
thread_local std::string last_error;

plait_code code_of(ErrorCode code) { return static_cast<plait_code>(static_cast<int>(code) + 1); }
static_assert(static_cast<int>(ErrorCode::kInvalidArgument) + 1 == PLAIT_INVALID_ARGUMENT);
static_assert(static_cast<int>(ErrorCode::kIo) + 1 == PLAIT_IO);
static_assert(static_cast<int>(ErrorCode::kTooLong) + 1 == PLAIT_TOO_LONG);
static_assert(static_cast<int>(FinishReason::kError) == PLAIT_FINISH_ERROR);
static_assert(static_cast<int>(Event::Kind::kFinish) == PLAIT_FINISH);
static_assert(static_cast<int>(CacheType::kBF16) == PLAIT_BF16);
static_assert(static_cast<int>(Pooling::kLast) == PLAIT_LAST);

plait_code failed(const Error& error) {
  last_error = error.message;
  return code_of(error.code);
}

plait_code invalid(const char* message) {
  last_error = message;
  return PLAIT_INVALID_ARGUMENT;
}

// No exception crosses into C. What may be thrown is the standard library's: memory is short.
template <class Call>
plait_code guarded(const Call& call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return PLAIT_NO_MEMORY;
  }
}

std::string text_or_empty(const char* text) { return text == nullptr ? std::string() : std::string(text); }

Result<EngineOptions> to_options(const plait_engine_options& c) {
  if (c.struct_size != sizeof(plait_engine_options))
    return fail(ErrorCode::kInvalidArgument, "plait_engine_options has a wrong struct_size: call its _init first");
  for (const std::int32_t type : {c.cache_type_k, c.cache_type_v}) {
    if (type < PLAIT_F32 || type > PLAIT_BF16)
      return fail(ErrorCode::kInvalidArgument, "cache_type is no plait_cache_type");
  }
  EngineOptions options;
  options.model = text_or_empty(c.model);
  options.isa = text_or_empty(c.isa);
  options.threads = c.threads;
  options.activations = c.activations;
  if (c.context != -1) options.context = c.context;
  if (c.cache_bytes != 0) options.cache_bytes = static_cast<std::size_t>(c.cache_bytes);
  options.cache_type_k = static_cast<CacheType>(c.cache_type_k);
  options.cache_type_v = static_cast<CacheType>(c.cache_type_v);
  options.step_tokens = c.step_tokens;
  options.max_sequences = c.max_sequences;
  options.queue_requests = c.queue_requests;
  options.queue_events = c.queue_events;
  options.check_values = c.check_values != 0;
  options.repack_cache = c.repack_cache != 0;
  options.use_mmap = c.use_mmap != 0;
  options.lock_memory = c.lock_memory != 0;
  options.pin_threads = c.pin_threads != 0;
  options.tokenizer = c.tokenizer != 0;
  if (c.load_progress != nullptr) {
    options.load_progress = [call = c.load_progress, user = c.load_progress_user](std::size_t done, std::size_t total) {
      call(user, done, total);
    };
  }
  return options;
}

SampleOptions to_sampling(const plait_request& c) {
  SampleOptions options;
  options.temp = c.temp;
  options.top_k = c.top_k;
  options.top_p = c.top_p;
  options.min_p = c.min_p;
  options.repeat_penalty = c.repeat_penalty;
  options.presence_penalty = c.presence_penalty;
  options.frequency_penalty = c.frequency_penalty;
  options.repeat_last_n = c.repeat_last_n;
  for (std::size_t i = 0; i < c.logit_bias_count; ++i)
    options.logit_bias.push_back({c.logit_bias[i].token, c.logit_bias[i].bias});
  options.seed = c.seed;
  return options;
}

Result<Request> to_request(const plait_request* c) {
  if (c == nullptr) return fail(ErrorCode::kInvalidArgument, "request is null");
  if (c->struct_size != sizeof(plait_request))
    return fail(ErrorCode::kInvalidArgument, "plait_request has a wrong struct_size: call its _init first");
  const bool null_array = (c->tokens == nullptr && c->token_count > 0) || (c->stop == nullptr && c->stop_count > 0) ||
                          (c->logit_bias == nullptr && c->logit_bias_count > 0);
  if (c->embedding < PLAIT_NO_POOLING || c->embedding > PLAIT_LAST)
    return fail(ErrorCode::kInvalidArgument, "embedding is no plait_pooling");
  if (null_array) return fail(ErrorCode::kInvalidArgument, "an array of the request is null but has a count");
  Request request;
  if (c->text != nullptr) request.text = c->text;
  if (c->messages != nullptr) request.messages = c->messages;
  request.tokens.assign(c->tokens, c->tokens + c->token_count);
  request.template_variables = text_or_empty(c->template_variables);
  request.add_generation_prompt = c->add_generation_prompt != 0;
  request.continue_final_message = c->continue_final_message != 0;
  request.sampling = to_sampling(*c);
  request.max_tokens = c->max_tokens;
  for (std::size_t i = 0; i < c->stop_count; ++i) request.stop.push_back(text_or_empty(c->stop[i]));
  request.ignore_end = c->ignore_end != 0;
  request.special = c->special != 0;
  if (c->logprobs != -1) request.logprobs = c->logprobs;
  if (c->prompt_logprobs != -1) request.prompt_logprobs = c->prompt_logprobs;
  request.embedding = static_cast<Pooling>(c->embedding);
  return request;
}

// All alternatives first: then they move no more, and the scores point to them.
void take_prompt_scores(plait_stream& stream) {
  stream.prompt_scores.clear();
  for (const ScoredChoice& choice : stream.event.prompt_scores) {
    for (const ScoredToken& scored : choice.alternatives) stream.alternatives.push_back({scored.token, scored.logprob});
  }
  const plait_scored_token* next = stream.alternatives.data();
  for (const ScoredChoice& choice : stream.event.prompt_scores) {
    stream.prompt_scores.push_back({choice.logprob, next, choice.alternatives.size()});
    next += choice.alternatives.size();
  }
}

// Points into the stream.
plait_event to_event(plait_stream& stream) {
  const Event& event = stream.event;
  stream.alternatives.clear();
  for (const ScoredToken& scored : event.alternatives) stream.alternatives.push_back({scored.token, scored.logprob});
  const std::size_t alternatives = stream.alternatives.size();
  take_prompt_scores(stream);
  plait_event c{};
  c.kind = static_cast<plait_event_kind>(event.kind);
  c.prompt_done = event.prompt_done;
  c.prompt_total = event.prompt_total;
  c.prompt_scores = stream.prompt_scores.data();
  c.prompt_score_count = stream.prompt_scores.size();
  c.token = event.token;
  c.text = event.text.c_str();
  c.text_bytes = event.text.size();
  c.logprob = event.logprob;
  c.alternatives = stream.alternatives.data();
  c.alternative_count = alternatives;
  c.finish = static_cast<plait_finish>(event.finish);
  c.embedding = event.embedding.data();
  c.embedding_width = event.embedding.size();
  c.error_code = event.error ? code_of(event.error->code) : PLAIT_OK;
  c.error = event.error ? event.error->message.c_str() : "";
  const Usage& usage = event.usage;
  c.usage.prompt_tokens = usage.prompt_tokens;
  c.usage.reused_tokens = usage.reused_tokens;
  c.usage.generated_tokens = usage.generated_tokens;
  c.usage.prefill_tokens_per_s = usage.prefill_tokens_per_s;
  c.usage.decode_tokens_per_s = usage.decode_tokens_per_s;
  c.usage.queue_s = usage.queue_s;
  c.usage.first_token_s = usage.first_token_s;
  return c;
}

plait_code copy_text(const std::string& from, char* text, std::size_t capacity, std::size_t* bytes) {
  if (bytes != nullptr) *bytes = from.size();
  if (text == nullptr || capacity == 0) return PLAIT_OK;
  const std::size_t count = std::min(from.size(), capacity - 1);
  std::memcpy(text, from.data(), count);
  text[count] = '\0';
  return PLAIT_OK;
}

}  // namespace
}  // namespace plait

using plait::failed;
using plait::guarded;
using plait::invalid;

const char* plait_last_error(void) { return plait::last_error.c_str(); }

void plait_engine_options_init(plait_engine_options* options) {
  if (options == nullptr) return;
  const plait::EngineOptions defaults;
  *options = plait_engine_options{};
  options->struct_size = sizeof(plait_engine_options);
  options->activations = defaults.activations;
  options->context = -1;
  options->cache_type_k = static_cast<std::int32_t>(defaults.cache_type_k);
  options->cache_type_v = static_cast<std::int32_t>(defaults.cache_type_v);
  options->step_tokens = defaults.step_tokens;
  options->max_sequences = defaults.max_sequences;
  options->queue_requests = defaults.queue_requests;
  options->queue_events = defaults.queue_events;
  options->check_values = 1;
  options->use_mmap = 1;
  options->pin_threads = defaults.pin_threads ? 1 : 0;
  options->tokenizer = 1;
}

plait_code plait_engine_open(const plait_engine_options* options, plait_engine** engine) {
  if (options == nullptr || engine == nullptr) return invalid("options or engine is null");
  *engine = nullptr;
  return guarded([&] {
    const auto wanted = plait::to_options(*options);
    if (!wanted) return failed(wanted.error());
    auto opened = plait::Engine::open(*wanted);
    if (!opened) return failed(opened.error());
    *engine = new plait_engine{std::move(*opened)};
    return PLAIT_OK;
  });
}

plait_code plait_engine_close(plait_engine* engine) {
  if (engine == nullptr) return PLAIT_OK;
  if (engine->engine.open_streams() > 0) {
    plait::last_error = "the engine has open streams: close them first";
    return PLAIT_BUSY;
  }
  delete engine;
  return PLAIT_OK;
}

plait_code plait_engine_info(const plait_engine* engine, plait_model_info* info) {
  if (engine == nullptr || info == nullptr) return invalid("engine or info is null");
  if (info->struct_size != sizeof(plait_model_info)) return invalid("plait_model_info has a wrong struct_size");
  const plait::ModelInfo& from = engine->engine.info();
  info->architecture = from.architecture.c_str();
  info->name = from.name.c_str();
  info->isa = from.isa.c_str();
  info->threads = from.threads;
  info->activations = from.activations;
  info->vocabulary = from.vocabulary;
  info->trained_context = from.trained_context;
  info->context = from.context;
  info->parameters = from.parameters;
  info->weight_bytes = from.weight_bytes;
  info->step_weight_bytes = from.step_weight_bytes;
  info->cache_bytes = from.cache_bytes;
  info->cache_token_bytes = from.cache_token_bytes;
  return PLAIT_OK;
}

void plait_request_init(const plait_engine* engine, plait_request* request) {
  if (request == nullptr) return;
  const plait::SampleOptions sampling = engine == nullptr ? plait::SampleOptions() : engine->engine.info().sampling;
  *request = plait_request{};
  request->struct_size = sizeof(plait_request);
  request->add_generation_prompt = 1;
  request->temp = sampling.temp;
  request->top_k = sampling.top_k;
  request->top_p = sampling.top_p;
  request->min_p = sampling.min_p;
  request->repeat_penalty = sampling.repeat_penalty;
  request->presence_penalty = sampling.presence_penalty;
  request->frequency_penalty = sampling.frequency_penalty;
  request->repeat_last_n = sampling.repeat_last_n;
  request->seed = sampling.seed;
  request->max_tokens = -1;
  request->logprobs = -1;
  request->prompt_logprobs = -1;
}

plait_code plait_submit(plait_engine* engine, const plait_request* request, plait_stream** stream) {
  if (engine == nullptr || stream == nullptr) return invalid("engine or stream is null");
  *stream = nullptr;
  return guarded([&] {
    auto wanted = plait::to_request(request);
    if (!wanted) return failed(wanted.error());
    auto submitted = engine->engine.submit(std::move(*wanted));
    if (!submitted) return failed(submitted.error());
    *stream = new plait_stream{std::move(*submitted), {}, {}, {}};
    return PLAIT_OK;
  });
}

plait_code plait_next(plait_stream* stream, int32_t timeout_ms, plait_event* event) {
  if (stream == nullptr || event == nullptr) return invalid("stream or event is null");
  if (timeout_ms < -1) return invalid("timeout_ms is less than -1");
  if (stream->stream.finished()) return PLAIT_END;
  return guarded([&] {
    auto next = timeout_ms == -1 ? stream->stream.next() : stream->stream.next_within(timeout_ms);
    if (!next) return PLAIT_TIMEOUT;
    stream->event = std::move(*next);
    *event = plait::to_event(*stream);
    return PLAIT_OK;
  });
}

plait_code plait_cancel(plait_stream* stream) {
  if (stream == nullptr) return invalid("stream is null");
  stream->stream.cancel();
  return PLAIT_OK;
}

void plait_stream_close(plait_stream* stream) { delete stream; }

plait_code plait_generate(plait_engine* engine, const plait_request* request, plait_callback callback, void* user) {
  plait_stream* stream = nullptr;
  if (const plait_code code = plait_submit(engine, request, &stream); code != PLAIT_OK) return code;
  plait_event event{};
  plait_code code = PLAIT_OK;
  while ((code = plait_next(stream, -1, &event)) == PLAIT_OK) {
    if (callback != nullptr && callback(user, &event) != 0) plait_cancel(stream);
  }
  if (code == PLAIT_END) code = PLAIT_OK;
  if (code == PLAIT_OK && event.finish == PLAIT_FINISH_CANCEL) code = PLAIT_CANCELLED;
  if (code == PLAIT_CANCELLED) plait::last_error = "the answer was cancelled";
  if (code == PLAIT_OK && event.finish == PLAIT_FINISH_ERROR) code = failed(*stream->event.error);
  plait_stream_close(stream);
  return code;
}

plait_code plait_tokenize(const plait_engine* engine, const char* text, int32_t add_special, int32_t parse_special,
                          int32_t* tokens, size_t capacity, size_t* count) {
  if (engine == nullptr || text == nullptr || count == nullptr) return invalid("engine, text or count is null");
  if (tokens == nullptr && capacity > 0) return invalid("tokens is null but capacity is not 0");
  return guarded([&] {
    const auto encoded = engine->engine.tokenize(text, add_special != 0, parse_special != 0);
    if (!encoded) return failed(encoded.error());
    *count = encoded->size();
    std::copy_n(encoded->begin(), std::min(capacity, encoded->size()), tokens);
    return PLAIT_OK;
  });
}

plait_code plait_detokenize(const plait_engine* engine, const int32_t* tokens, size_t token_count, int32_t special,
                            char* text, size_t capacity, size_t* bytes) {
  if (engine == nullptr || (tokens == nullptr && token_count > 0)) return invalid("engine or tokens is null");
  return guarded([&] {
    const std::vector<plait::Token> ids(tokens, tokens + token_count);
    return plait::copy_text(engine->engine.detokenize(ids, special != 0), text, capacity, bytes);
  });
}

plait_code plait_render(const plait_engine* engine, const plait_request* request, char* text, size_t capacity,
                        size_t* bytes) {
  if (engine == nullptr) return invalid("engine is null");
  return guarded([&] {
    const auto wanted = plait::to_request(request);
    if (!wanted) return failed(wanted.error());
    const auto rendered = engine->engine.render(*wanted);
    if (!rendered) return failed(rendered.error());
    return plait::copy_text(*rendered, text, capacity, bytes);
  });
}
