/* The C API of plait: opaque handles, codes, messages.
 *
 *   plait_engine_options options;          plait_engine_options_init(&options);
 *   options.model = "model.gguf";
 *   plait_engine* engine = NULL;
 *   if (plait_engine_open(&options, &engine) != PLAIT_OK) puts(plait_last_error());
 *
 *   plait_request request;                 plait_request_init(engine, &request);
 *   request.text = "Once upon a time";
 *   plait_generate(engine, &request, print_event, NULL);
 *   plait_engine_close(engine);
 *
 * Every function that returns plait_code may be called from any thread, also at the same time, but for one stream's
 * plait_next and plait_stream_close: those belong to one thread at a time. Texts are UTF-8; those going in end with a
 * zero byte. Structs begin with their own size, which the _init functions set, so that later versions can grow them.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using): C has no `using`. */
typedef struct plait_engine plait_engine; /* One model, many requests. */
typedef struct plait_stream plait_stream; /* One answer as it comes. */

typedef enum plait_code {
  PLAIT_OK = 0,
  PLAIT_INVALID_ARGUMENT = 1, /* The call makes no sense: an option, a request, a token id, a null pointer. */
  PLAIT_NOT_FOUND = 2,        /* A file that is not there. */
  PLAIT_CORRUPT = 3,          /* A file, or the model's numbers, break their rules. */
  PLAIT_UNSUPPORTED = 4,      /* Well-formed, but plait does not do it. */
  PLAIT_NO_MEMORY = 5,
  PLAIT_BUSY = 6, /* A queue is full, or streams are open; the same call may succeed later. */
  PLAIT_CANCELLED = 7,
  PLAIT_IO = 8,
  PLAIT_TOO_LONG = 9,  /* A prompt has more tokens than there is room for. */
  PLAIT_TIMEOUT = 100, /* plait_next: nothing came in time. */
  PLAIT_END = 101      /* plait_next: the last event has been read. */
} plait_code;

/* One sentence about the last call of this thread that failed; empty if none did. Valid until its next call. */
const char* plait_last_error(void);

typedef enum plait_cache_type { PLAIT_F32 = 0, PLAIT_F16 = 1, PLAIT_BF16 = 2 } plait_cache_type;

typedef struct plait_engine_options {
  size_t struct_size;
  const char* model;      /* Path of a GGUF file; of a split set, its first part. */
  const char* isa;        /* Instruction set; NULL: the best that this machine has. */
  int32_t threads;        /* 0: the performance cores that this process may use. */
  int32_t activations;    /* Bits of those that meet quantized weights: 8; 16: finer; 32: floats. */
  int32_t context;        /* Most tokens of one sequence. -1: as trained, at most 4096. 0: as trained. */
  uint64_t cache_bytes;   /* For what sequences remember. 0: what the context needs. */
  int32_t cache_type_k;   /* plait_cache_type */
  int32_t cache_type_v;   /* plait_cache_type */
  int32_t step_tokens;    /* Most tokens of one step. */
  int32_t max_sequences;  /* That run together. */
  int32_t queue_requests; /* That may wait; beyond, PLAIT_BUSY. */
  int32_t queue_events;   /* Not yet read from one stream; beyond, that sequence alone waits. */
  int32_t check_values;   /* 1: look for weights that are no numbers. */
  int32_t repack_cache;   /* 1: keep the packed weights in MODEL.repack and load from there. */
  int32_t use_mmap;       /* 0: the file is read into memory. */
  int32_t lock_memory;
  int32_t pin_threads; /* 1: the engine's threads keep to their cores; those of the program are left alone. */
  int32_t tokenizer;   /* 0: prompts are token ids, and answers have no text. */
  void (*load_progress)(void* user, uint64_t done_bytes, uint64_t total_bytes); /* Or NULL. */
  void* load_progress_user;
} plait_engine_options;

void plait_engine_options_init(plait_engine_options* options); /* The defaults. */

plait_code plait_engine_open(const plait_engine_options* options, plait_engine** engine);
/* PLAIT_BUSY, and nothing happens, while streams are open. NULL is allowed. */
plait_code plait_engine_close(plait_engine* engine);

typedef struct plait_model_info {
  size_t struct_size;
  const char* architecture; /* The texts live as long as the engine. */
  const char* name;
  const char* isa;
  int32_t threads;
  int32_t activations; /* Bits. */
  int32_t vocabulary;
  int32_t trained_context;
  int32_t context;
  int64_t parameters;
  uint64_t weight_bytes;      /* In memory. */
  uint64_t step_weight_bytes; /* Of the file, read to compute one token. */
  uint64_t cache_bytes;
  uint64_t cache_token_bytes;
} plait_model_info;

/* Set struct_size before the call. */
plait_code plait_engine_info(const plait_engine* engine, plait_model_info* info);

typedef struct plait_token_bias {
  int32_t token;
  double bias; /* Minus infinity: never chosen. */
} plait_token_bias;

typedef enum plait_pooling { PLAIT_NO_POOLING = 0, PLAIT_MEAN = 1, PLAIT_LAST = 2 } plait_pooling;

typedef struct plait_request {
  size_t struct_size;
  /* The prompt: exactly one of these three. */
  const char* text;
  const char* messages; /* JSON array of {"role", "content", ...}, through the model's chat template. */
  const int32_t* tokens;
  size_t token_count;

  const char* template_variables; /* JSON object: more variables for the template. Or NULL. */
  int32_t add_generation_prompt;  /* 1: the template ends where the answer begins. */
  int32_t continue_final_message; /* 1: the answer continues the last message. */

  double temp; /* 0 or less: greedy. */
  int32_t top_k;
  double top_p;
  double min_p;
  double repeat_penalty;
  double presence_penalty;
  double frequency_penalty;
  int32_t repeat_last_n;
  const plait_token_bias* logit_bias;
  size_t logit_bias_count;
  uint64_t seed;

  int32_t max_tokens; /* -1: until the context is full. */
  const char* const* stop;
  size_t stop_count;
  int32_t ignore_end;      /* 1: tokens that end an answer are tokens like any other. */
  int32_t special;         /* 1: special tokens in the answer are spelt out. */
  int32_t logprobs;        /* -1: none. 0 to 100: each token's, and those of this many best ones. */
  int32_t prompt_logprobs; /* The same for the tokens of the prompt, the first of which has none. */
  int32_t embedding;       /* plait_pooling; other than 0: nothing is generated, the last event has a vector. */
} plait_request;

/* The defaults; with an engine, the sampling that its model recommends. */
void plait_request_init(const plait_engine* engine, plait_request* request);

typedef enum plait_event_kind {
  PLAIT_PREFILL = 0, /* prompt_done of prompt_total tokens of the prompt are computed. */
  PLAIT_TOKEN = 1,   /* `token` was chosen; `text` is what may be shown now, perhaps nothing yet. */
  PLAIT_FINISH = 2   /* The last event; `text` is what had been held back. */
} plait_event_kind;

typedef enum plait_finish {
  PLAIT_FINISH_STOP = 0,   /* An end token or a stop string. */
  PLAIT_FINISH_LENGTH = 1, /* max_tokens, or the context or the memory is full. */
  PLAIT_FINISH_CANCEL = 2,
  PLAIT_FINISH_ERROR = 3 /* error_code and error say which. */
} plait_finish;

typedef struct plait_scored_token {
  int32_t token;
  double logprob; /* Natural logarithm, before any sampling option. */
} plait_scored_token;

typedef struct plait_scored_choice {
  double logprob;
  const plait_scored_token* alternatives; /* Best first. */
  size_t alternative_count;
} plait_scored_choice;

typedef struct plait_usage {
  int32_t prompt_tokens;
  int32_t reused_tokens;
  int32_t generated_tokens;
  double prefill_tokens_per_s;
  double decode_tokens_per_s;
  double queue_s;
  double first_token_s;
} plait_usage;

/* Its pointers are valid until the next call on the same stream, or until the callback returns. */
typedef struct plait_event {
  plait_event_kind kind;
  int32_t prompt_done;
  int32_t prompt_total;
  const plait_scored_choice* prompt_scores; /* With PLAIT_PREFILL, if asked for: of the prompt's next tokens. */
  size_t prompt_score_count;
  int32_t token;
  const char* text; /* Whole characters; the texts of all events joined are the answer. Ends with a zero byte. */
  size_t text_bytes;
  double logprob;
  const plait_scored_token* alternatives; /* Best first. */
  size_t alternative_count;
  plait_finish finish;
  plait_code error_code;  /* PLAIT_OK: none. */
  const char* error;      /* Empty: none. */
  const float* embedding; /* With PLAIT_FINISH, if asked for: of length 1 in the Euclidean norm. */
  size_t embedding_width;
  plait_usage usage; /* With PLAIT_FINISH. */
} plait_event;

plait_code plait_submit(plait_engine* engine, const plait_request* request, plait_stream** stream);
/* Waits at most that long; -1: as long as it takes. PLAIT_OK with an event, PLAIT_TIMEOUT, or PLAIT_END. */
plait_code plait_next(plait_stream* stream, int32_t timeout_ms, plait_event* event);
/* From any thread. The stream then ends with PLAIT_FINISH_CANCEL. */
plait_code plait_cancel(plait_stream* stream);
/* Cancels what still runs. NULL is allowed. */
void plait_stream_close(plait_stream* stream);

/* The whole answer, event by event, on this thread. A callback that returns other than 0 cancels the rest. Returns
 * PLAIT_CANCELLED when cancelled, and the error's code when the answer ended with one. `callback` may be NULL. */
typedef int (*plait_callback)(void* user, const plait_event* event);
plait_code plait_generate(plait_engine* engine, const plait_request* request, plait_callback callback, void* user);

/* Writes at most `capacity` tokens, and their number to `count` in any case; so a first call may have none. */
plait_code plait_tokenize(const plait_engine* engine, const char* text, int32_t add_special, int32_t parse_special,
                          int32_t* tokens, size_t capacity, size_t* count);
/* Writes at most `capacity` bytes with a zero byte at the end, and the text's own length to `bytes` in any case. */
plait_code plait_detokenize(const plait_engine* engine, const int32_t* tokens, size_t token_count, int32_t special,
                            char* text, size_t capacity, size_t* bytes);
/* The prompt text that the request's messages become; sizes as plait_detokenize has them. */
plait_code plait_render(const plait_engine* engine, const plait_request* request, char* text, size_t capacity,
                        size_t* bytes);
/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
}
#endif
