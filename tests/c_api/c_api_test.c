/* The C API, used from C: every function, every event, and the refusals. Argument: a tiny model. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plait/plait.h"

static int failures = 0;

static void expect(int condition, const char* what, int line) {
  if (condition) return;
  ++failures;
  fprintf(stderr, "line %d: not so: %s (last error: %s)\n", line, what, plait_last_error());
}
#define EXPECT(condition) expect((condition) != 0, #condition, __LINE__)

typedef struct {
  char text[4096];
  int32_t tokens[64];
  int token_count;
  int prefill_done;
  int alternatives;
  int cancel_after; /* Tokens; 0: never. */
  plait_event last;
  int finished;
} answer;

static int collect(void* user, const plait_event* event) {
  answer* a = user;
  strncat(a->text, event->text, sizeof a->text - strlen(a->text) - 1);
  EXPECT(event->text_bytes == strlen(event->text));
  EXPECT(!a->finished);
  if (event->kind == PLAIT_PREFILL) a->prefill_done = event->prompt_done;
  if (event->kind == PLAIT_TOKEN && a->token_count < 64) {
    a->tokens[a->token_count++] = event->token;
    a->alternatives = (int)event->alternative_count;
    if (event->alternative_count > 0) EXPECT(event->alternatives[0].logprob <= 0);
  }
  if (event->kind == PLAIT_FINISH) {
    a->finished = 1;
    a->last = *event;
  }
  return a->cancel_after != 0 && a->token_count >= a->cancel_after;
}

static plait_request greedy(const plait_engine* engine, int32_t max_tokens) {
  plait_request request;
  plait_request_init(engine, &request);
  request.temp = 0;
  request.max_tokens = max_tokens;
  request.ignore_end = 1;
  return request;
}

static const int32_t kPrompt[] = {322, 206, 97, 380, 57, 211, 207, 179, 189, 176};

static void test_open_refuses(void) {
  plait_engine_options options;
  plait_engine_options_init(&options);
  plait_engine* engine = NULL;
  EXPECT(plait_engine_open(NULL, &engine) == PLAIT_INVALID_ARGUMENT);
  EXPECT(plait_engine_open(&options, NULL) == PLAIT_INVALID_ARGUMENT);
  EXPECT(plait_engine_open(&options, &engine) == PLAIT_INVALID_ARGUMENT);
  EXPECT(strstr(plait_last_error(), "model") != NULL);
  options.model = "/there/is/no/such.gguf";
  EXPECT(plait_engine_open(&options, &engine) == PLAIT_NOT_FOUND);
  EXPECT(strstr(plait_last_error(), "/there/is/no/such.gguf") != NULL);
  EXPECT(engine == NULL);
  options.cache_type_k = 7;
  EXPECT(plait_engine_open(&options, &engine) == PLAIT_INVALID_ARGUMENT);
  options.struct_size = 3;
  EXPECT(plait_engine_open(&options, &engine) == PLAIT_INVALID_ARGUMENT);
  EXPECT(plait_engine_close(NULL) == PLAIT_OK);
}

static int progress_calls = 0;
static void count_progress(void* user, uint64_t done, uint64_t total) {
  EXPECT(user == &progress_calls);
  EXPECT(done <= total);
  ++progress_calls;
}

static plait_engine* open_model(const char* path) {
  plait_engine_options options;
  plait_engine_options_init(&options);
  options.model = path;
  options.threads = 1;
  options.activations = 16;
  options.context = 200;
  options.queue_events = 4; /* So that an answer waits for its reader, and there is something to cancel. */
  options.load_progress = count_progress;
  options.load_progress_user = &progress_calls;
  plait_engine* engine = NULL;
  EXPECT(plait_engine_open(&options, &engine) == PLAIT_OK);
  EXPECT(progress_calls > 0);
  return engine;
}

static void test_info(const plait_engine* engine) {
  plait_model_info info = {0};
  EXPECT(plait_engine_info(engine, &info) == PLAIT_INVALID_ARGUMENT);
  info.struct_size = sizeof info;
  EXPECT(plait_engine_info(engine, &info) == PLAIT_OK);
  EXPECT(strcmp(info.architecture, "llama") == 0);
  EXPECT(info.vocabulary == 384);
  EXPECT(info.context == 200);
  EXPECT(info.threads == 1);
  EXPECT(info.activations == 16);
  EXPECT(info.cache_bytes >= 200 * info.cache_token_bytes);
}

static void test_generate(plait_engine* engine) {
  plait_request request = greedy(engine, 12);
  request.tokens = kPrompt;
  request.token_count = 10;
  request.logprobs = 2;
  answer first = {0}, second = {0};
  EXPECT(plait_generate(engine, &request, collect, &first) == PLAIT_OK);
  EXPECT(first.token_count == 12);
  EXPECT(first.prefill_done == 10);
  EXPECT(first.alternatives == 2);
  EXPECT(first.finished && first.last.finish == PLAIT_FINISH_LENGTH);
  EXPECT(first.last.usage.prompt_tokens == 10 && first.last.usage.generated_tokens == 12);
  EXPECT(first.last.error_code == PLAIT_OK);
  EXPECT(plait_generate(engine, &request, collect, &second) == PLAIT_OK);
  EXPECT(memcmp(first.tokens, second.tokens, sizeof first.tokens) == 0);
  EXPECT(plait_generate(engine, &request, NULL, NULL) == PLAIT_OK);

  char text[4096];
  size_t bytes = 0;
  EXPECT(plait_detokenize(engine, first.tokens, 12, 0, text, sizeof text, &bytes) == PLAIT_OK);
  EXPECT(strcmp(text, first.text) == 0 && bytes == strlen(text));
  EXPECT(plait_detokenize(engine, first.tokens, 12, 0, NULL, 0, &bytes) == PLAIT_OK && bytes == strlen(text));

  const plait_token_bias ban = {first.tokens[0], -INFINITY};
  request.logit_bias = &ban;
  request.logit_bias_count = 1;
  answer other = {0};
  EXPECT(plait_generate(engine, &request, collect, &other) == PLAIT_OK);
  EXPECT(other.tokens[0] != first.tokens[0]);

  answer cut = {.cancel_after = 3};
  request.max_tokens = -1;
  EXPECT(plait_generate(engine, &request, collect, &cut) == PLAIT_CANCELLED);
  EXPECT(cut.finished && cut.last.finish == PLAIT_FINISH_CANCEL);
}

typedef struct {
  int scores;
  double sum;
  double norm;
  size_t width;
} measures;

static int measure(void* user, const plait_event* event) {
  measures* m = user;
  for (size_t i = 0; i < event->prompt_score_count; ++i) {
    const plait_scored_choice* score = &event->prompt_scores[i];
    EXPECT(event->kind == PLAIT_PREFILL && score->alternative_count == 2);
    EXPECT(score->logprob <= score->alternatives[0].logprob && score->alternatives[0].logprob <= 0);
    EXPECT(score->alternatives[1].logprob <= score->alternatives[0].logprob);
    m->sum += score->logprob;
    ++m->scores;
  }
  for (size_t i = 0; i < event->embedding_width; ++i) m->norm += (double)event->embedding[i] * event->embedding[i];
  m->width += event->embedding_width;
  return 0;
}

static void test_measures(plait_engine* engine) {
  plait_request request = greedy(engine, 0);
  request.tokens = kPrompt;
  request.token_count = 10;
  request.prompt_logprobs = 2;
  measures scored = {0}, embedded = {0};
  EXPECT(plait_generate(engine, &request, measure, &scored) == PLAIT_OK);
  EXPECT(scored.scores == 9 && scored.sum < 0 && scored.width == 0);
  request.embedding = PLAIT_MEAN;
  EXPECT(plait_generate(engine, &request, measure, &embedded) == PLAIT_INVALID_ARGUMENT);
  request.prompt_logprobs = -1;
  EXPECT(plait_generate(engine, &request, measure, &embedded) == PLAIT_OK);
  EXPECT(embedded.scores == 0 && embedded.width > 0 && fabs(embedded.norm - 1) < 1e-5);
  request.embedding = 3;
  EXPECT(plait_generate(engine, &request, measure, &embedded) == PLAIT_INVALID_ARGUMENT);
}

static void test_prompts(plait_engine* engine) {
  plait_request request = greedy(engine, 3);
  answer a = {0};
  EXPECT(plait_generate(engine, &request, collect, &a) == PLAIT_INVALID_ARGUMENT); /* No prompt. */
  request.text = "Hello, world!";
  EXPECT(plait_generate(engine, &request, collect, &a) == PLAIT_OK && a.token_count == 3);
  request.messages = "[]";
  EXPECT(plait_generate(engine, &request, collect, &a) == PLAIT_INVALID_ARGUMENT); /* Two prompts. */
  request.text = NULL;
  request.messages = "[{\"role\":\"user\",\"content\":\"Hi\"}]";
  char text[512];
  size_t bytes = 0;
  EXPECT(plait_render(engine, &request, text, sizeof text, &bytes) == PLAIT_OK);
  EXPECT(strstr(text, "Hi") != NULL && bytes == strlen(text));
  char few[4];
  EXPECT(plait_render(engine, &request, few, sizeof few, &bytes) == PLAIT_OK && strlen(few) == 3 && bytes > 3);
  memset(&a, 0, sizeof a);
  EXPECT(plait_generate(engine, &request, collect, &a) == PLAIT_OK && a.token_count == 3);
  request.messages = "{\"role\":";
  EXPECT(plait_generate(engine, &request, collect, &a) == PLAIT_INVALID_ARGUMENT ||
         plait_generate(engine, &request, collect, &a) == PLAIT_CORRUPT);

  int32_t tokens[64];
  size_t count = 0;
  EXPECT(plait_tokenize(engine, "Hello, world!", 0, 0, NULL, 0, &count) == PLAIT_OK && count > 0);
  const size_t needed = count;
  EXPECT(plait_tokenize(engine, "Hello, world!", 0, 0, tokens, 64, &count) == PLAIT_OK && count == needed);
  EXPECT(plait_detokenize(engine, tokens, count, 1, text, sizeof text, NULL) == PLAIT_OK);
  EXPECT(strcmp(text, "Hello, world!") == 0);
}

static void test_refusals(plait_engine* engine) {
  static int32_t many[500];
  plait_stream* stream = NULL;
  plait_request request = greedy(engine, 3);
  request.tokens = many;
  request.token_count = 500;
  EXPECT(plait_submit(engine, &request, &stream) == PLAIT_TOO_LONG);
  EXPECT(strstr(plait_last_error(), "500") != NULL && strstr(plait_last_error(), "200") != NULL);
  const int32_t wrong[] = {384};
  request.tokens = wrong;
  request.token_count = 1;
  EXPECT(plait_submit(engine, &request, &stream) == PLAIT_INVALID_ARGUMENT);
  request.tokens = NULL;
  EXPECT(plait_submit(engine, &request, &stream) == PLAIT_INVALID_ARGUMENT);
  request.tokens = kPrompt;
  request.top_p = NAN;
  EXPECT(plait_submit(engine, &request, &stream) == PLAIT_INVALID_ARGUMENT);
  EXPECT(strstr(plait_last_error(), "top_p") != NULL);
  EXPECT(plait_submit(engine, NULL, &stream) == PLAIT_INVALID_ARGUMENT);
  EXPECT(plait_submit(NULL, &request, &stream) == PLAIT_INVALID_ARGUMENT);
  request.struct_size = 1;
  EXPECT(plait_submit(engine, &request, &stream) == PLAIT_INVALID_ARGUMENT);
  EXPECT(stream == NULL);
  EXPECT(plait_next(NULL, 0, NULL) == PLAIT_INVALID_ARGUMENT);
  EXPECT(plait_cancel(NULL) == PLAIT_INVALID_ARGUMENT);
  plait_stream_close(NULL);
}

static void test_streams(plait_engine* engine) {
  plait_request request = greedy(engine, -1);
  request.tokens = kPrompt;
  request.token_count = 10;
  plait_stream *first = NULL, *second = NULL;
  EXPECT(plait_submit(engine, &request, &first) == PLAIT_OK);
  EXPECT(plait_submit(engine, &request, &second) == PLAIT_OK);
  EXPECT(plait_engine_close(engine) == PLAIT_BUSY);
  plait_event event;
  EXPECT(plait_next(first, -1, &event) == PLAIT_OK && event.kind == PLAIT_PREFILL);
  EXPECT(plait_next(first, -2, &event) == PLAIT_INVALID_ARGUMENT);
  EXPECT(plait_cancel(first) == PLAIT_OK);
  plait_stream_close(second);
  plait_code code = PLAIT_OK;
  while ((code = plait_next(first, 1, &event)) == PLAIT_OK || code == PLAIT_TIMEOUT) continue;
  EXPECT(code == PLAIT_END);
  EXPECT(event.kind == PLAIT_FINISH && event.finish == PLAIT_FINISH_CANCEL);
  plait_stream_close(first);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  FILE* file = fopen(argv[1], "rb");
  if (file == NULL) {
    printf("skipped: there is no %s\n", argv[1]);
    return 77;
  }
  fclose(file);
  test_open_refuses();
  plait_engine* engine = open_model(argv[1]);
  if (engine == NULL) return 1;
  test_info(engine);
  test_generate(engine);
  test_measures(engine);
  test_prompts(engine);
  test_refusals(engine);
  test_streams(engine);
  EXPECT(plait_engine_close(engine) == PLAIT_OK);
  if (failures == 0) printf("all as wanted\n");
  return failures == 0 ? 0 : 1;
}
