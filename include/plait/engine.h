// The C++ API of plait: an Engine is one model that serves many requests; each request's answer is a Stream of events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plait/result.h"

namespace plait {

using Token = std::int32_t;  // The id of a token in the model's vocabulary.

enum class CacheType { kF32, kF16, kBF16 };  // How keys or values of a token are kept.

struct EngineOptions {
  std::string model;  // Path of a GGUF file; of a split set, its first part.
  int threads = 0;    // 0: the performance cores that this process may use, within its quota of processor time.
  std::string isa;    // Instruction set; empty: the best that this machine has.
  // Bits of the activations that meet quantized weights: 8; 16: 256 times as exact, at up to twice the time; 32:
  // floats.
  int activations = 8;
  // Most tokens of one sequence, prompt and answer together. None: as trained, at most 4096, less where memory is
  // short. 0: as trained.
  std::optional<int> context;
  // Bytes for what sequences remember. None: what `cache_sequences` of `context` tokens need, at most half of free
  // memory, where one of them must fit.
  std::optional<std::size_t> cache_bytes;
  int cache_sequences = 1;
  CacheType cache_type_k = CacheType::kF16, cache_type_v = CacheType::kF16;
  int step_tokens = 512;     // Most tokens of one step; long prompts are computed in pieces of this size.
  int max_sequences = 64;    // That run together; others wait. At most step_tokens.
  int queue_requests = 256;  // Submitted and not yet taken up; beyond, submit() fails with kBusy.
  int queue_events = 256;    // Not yet read from one stream; beyond, that sequence alone waits for its reader.
  bool pin_threads = true;   // Threads of the engine keep to their cores; those of the program are left alone.
  bool check_values = true;  // Look for weights that are NaN or infinite at load.
  // Keep the weights as the kernels read them in a file MODEL.repack beside the model (as large as it), and load from
  // there. It is made anew where the model changed or the file is damaged; notes say so.
  bool repack_cache = false;
  bool use_mmap = true;      // false: the file is read into memory.
  bool lock_memory = false;  // Ask the system to keep the file in memory.
  bool tokenizer = true;     // false: prompts are token ids, and answers have no text.
  std::function<void(std::size_t done_bytes, std::size_t total_bytes)> load_progress;
};

struct TokenBias {
  Token token = 0;
  double bias = 0;  // Added to its logit; minus infinity: never chosen.
};

// How a token is chosen. Names, defaults and order are those of llama.cpp: bias, penalties, top-k, top-p, min-p,
// temperature.
struct SampleOptions {
  double temp = 0.8;             // 0 or less: the greatest logit, the lowest id among equals.
  int top_k = 40;                // 0 or less: off.
  double top_p = 0.95;           // 1: off.
  double min_p = 0.05;           // 0: off.
  double repeat_penalty = 1.0;   // 1: off.
  double presence_penalty = 0;   // 0: off.
  double frequency_penalty = 0;  // 0: off.
  int repeat_last_n = 64;        // How many last tokens, prompt included, the penalties look at. -1: all; 0: off.
  std::vector<TokenBias> logit_bias;
  std::uint64_t seed = 0;  // The same request with the same seed has the same answer, whatever else runs.
};

// Instead of an answer: one vector for the whole prompt, made of the hidden rows that the head would read.
enum class Pooling { kNone, kMean, kLast };

struct Request {
  // The prompt: exactly one of these.
  std::optional<std::string> text;      // Taken as it is; special tokens may be spelt out in it.
  std::optional<std::string> messages;  // JSON array of {"role", "content", ...}, through the model's chat template.
  std::vector<Token> tokens;

  std::string template_variables;       // JSON object: more variables for the template ("tools", ...). Or empty.
  bool add_generation_prompt = true;    // The template ends where the answer begins.
  bool continue_final_message = false;  // The answer continues the last message.

  SampleOptions sampling;
  int max_tokens = -1;            // Of the answer. -1: until the context is full. 0: the prompt is only computed.
  std::vector<std::string> stop;  // The answer ends before any of these, wherever token borders lie.
  bool ignore_end = false;        // Tokens that end an answer are tokens like any other.
  bool special = false;           // Special tokens in the answer are spelt out.
  std::optional<int> logprobs;    // Report the log-probability of each token, and of this many best ones (0 to 100).
  std::optional<int> prompt_logprobs;  // The same for the tokens of the prompt, the first of which has none.
  Pooling embedding = Pooling::kNone;  // Not kNone: nothing is generated; Event::embedding of kFinish has the vector.
  // Called by the engine's thread for each event, before the stream has it; not after kFinish. It must not wait.
  std::function<void()> on_event;
};

struct Prompt {
  std::string text;  // What messages became; empty for a prompt of tokens.
  std::vector<Token> tokens;
};

enum class FinishReason {
  kStop,    // An end token or a stop string.
  kLength,  // max_tokens, or the context or the memory is full.
  kCancel,
  kError,  // Event::error says which.
};
std::string_view name_of(FinishReason reason);  // "stop", "length", "cancel", "error".

struct ScoredToken {
  Token token = 0;
  double logprob = 0;  // Natural logarithm of the model's own probability, before any sampling option.
};

struct ScoredChoice {
  double logprob = 0;
  std::vector<ScoredToken> alternatives;
};

struct Usage {
  int prompt_tokens = 0;
  int reused_tokens = 0;     // Of the prompt, not computed again.
  int generated_tokens = 0;  // Without the end token.
  double prefill_tokens_per_s = 0;
  double decode_tokens_per_s = 0;  // From the first token on; 0 with fewer than two.
  double queue_s = 0;              // From submit() until work on it began.
  double first_token_s = 0;        // From submit() to the first token; 0 if there was none.
};

struct Event {
  enum class Kind {
    kPrefill,  // prompt_done of prompt_total tokens of the prompt are computed.
    kToken,    // `token` was chosen; `text` is what may be shown now, perhaps nothing yet.
    kFinish,   // The last event; `text` is what had been held back.
  };
  Kind kind = Kind::kPrefill;
  int prompt_done = 0;
  int prompt_total = 0;
  std::vector<ScoredChoice> prompt_scores;  // If asked for, with kPrefill: of the prompt's next tokens, in order.
  Token token = 0;
  std::string text;    // The texts of all events joined are the answer: whole characters, no part of a stop string.
  double logprob = 0;  // If asked for.
  std::vector<ScoredToken> alternatives;  // If asked for: the best ones, best first.
  FinishReason finish = FinishReason::kStop;
  std::string stop;              // With kStop: which of Request::stop it was; empty for an end token.
  std::optional<Error> error;    // With kError; with kLength perhaps, where the memory was full.
  std::vector<float> embedding;  // With kFinish, if asked for: of length 1 in the Euclidean norm.
  Usage usage;                   // With kFinish.
};

struct Completion {
  std::string text;
  std::vector<Token> tokens;
  std::vector<ScoredChoice> logprobs;       // One a token, if asked for.
  std::vector<ScoredChoice> prompt_scores;  // One a token of the prompt but its first, if asked for.
  std::vector<float> embedding;             // If asked for.
  FinishReason finish = FinishReason::kStop;
  Usage usage;
};

struct ModelInfo {
  std::string architecture;
  std::string name;
  int vocabulary = 0;
  int width = 0;                   // Of a hidden row, and so of an embedding.
  std::string chat_template;       // The file's, or ChatML.
  std::string bos_text, eos_text;  // How these tokens are spelt; empty if there is none.
  int trained_context = 0;
  int context = 0;        // Most tokens of one sequence here.
  int max_sequences = 0;  // Most that run together.
  std::int64_t parameters = 0;
  std::size_t weight_bytes = 0;       // In memory.
  std::size_t step_weight_bytes = 0;  // Of the file, read to compute one token.
  std::size_t cache_bytes = 0;        // Taken for what sequences remember.
  std::size_t cache_token_bytes = 0;  // Of those, by one token.
  std::string isa;
  int threads = 0;
  int activations = 8;             // Bits.
  SampleOptions sampling;          // llama.cpp's defaults, or what the file recommends.
  std::vector<std::string> notes;  // Sentences worth showing to the user.
  std::vector<std::string> plan;   // How it runs here: instruction set, kernels, threads, memory; a line each.
};

// What the engine is at and has done; counters count from its opening.
struct EngineStats {
  int running = 0;  // Requests that hold memory.
  int waiting = 0;  // Submitted, work on them has not begun, or they were paused for want of memory.
  std::size_t cache_bytes = 0, cache_used_bytes = 0;
  std::uint64_t prompt_tokens = 0;      // Of requests whose prompt is computed.
  std::uint64_t reused_tokens = 0;      // Of those, not computed again.
  std::uint64_t computed_tokens = 0;    // All that steps computed.
  std::uint64_t recomputed_tokens = 0;  // Of those, computed before and given up since.
  std::uint64_t generated_tokens = 0;
  std::uint64_t steps = 0;
  std::uint64_t pauses = 0;  // Times that a request gave its memory to others.
};

struct Channel;  // What joins a stream to its engine; private.

// The answer to one request as it comes. One reader at a time; cancel() may be called from any thread. A stream that
// goes out of scope is cancelled. It must not outlive its engine.
class Stream {
 public:
  Stream(Stream&& other) noexcept;
  Stream& operator=(Stream&& other) noexcept;
  ~Stream();

  std::optional<Event> next();                         // Waits. None: the last event has been read.
  std::optional<Event> next_within(int milliseconds);  // None: also when nothing came in that time.
  bool finished() const;                               // The last event has been read.
  void cancel();                                       // The stream then ends with FinishReason::kCancel.

 private:
  friend class Core;
  explicit Stream(Channel* channel) : channel_(channel) {}
  Channel* channel_;
};

class Engine {
 public:
  static Result<Engine> open(const EngineOptions& options);
  Engine(Engine&& other) noexcept;
  Engine& operator=(Engine&& other) noexcept;
  ~Engine();  // Ends what runs. All its streams must be gone.

  // These may be called from any thread, also at the same time.
  const ModelInfo& info() const;
  // Errors: kInvalidArgument for a request that makes no sense, kTooLong for a prompt that can never fit, kBusy when
  // the queue is full.
  Result<Stream> submit(Request request);
  // Waits for the whole answer; `watch`, if set, sees each event. A request that ends with kError is an error.
  Result<Completion> generate(Request request, const std::function<void(const Event&)>& watch = {});
  int open_streams() const;
  // How often each expert was chosen by a token since the engine was opened, one list a layer; empty for a layer
  // without experts.
  std::vector<std::vector<std::uint64_t>> expert_counts() const;

  Result<std::vector<Token>> tokenize(std::string_view text, bool add_special = true, bool parse_special = true) const;
  std::string detokenize(const std::vector<Token>& tokens, bool special = true) const;
  std::string token_bytes(Token token) const;  // As they are: perhaps a part of a character.
  // What the request's prompt becomes. To submit it several times, cut it once and set Request::tokens.
  Result<Prompt> prepare(const Request& request) const;
  EngineStats stats() const;
  // The prompt text that the request's messages become.
  Result<std::string> render(const Request& request) const;

 private:
  struct State;
  explicit Engine(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace plait
