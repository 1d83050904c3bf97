// plait run: answers a prompt, or chats.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <random>

#include "answer.h"
#include "chat.h"
#include "commands.h"
#include "engine_options.h"
#include "id_list.h"
#include "model_options.h"
#include "progress.h"

namespace plait {
namespace {

struct RunOptions {
  CommonOptions common;
  std::string model, system;
  std::optional<std::string> prompt, file;  // Given and empty is a prompt too, not a chat.
  bool raw = false, json = false, stats = false;
  int max_tokens = -1;
  std::optional<double> temp, top_p, min_p, repeat_penalty, presence_penalty, frequency_penalty;
  std::optional<int> top_k, repeat_last_n;
  std::vector<std::string> stop;
};

SampleOptions sampling(const RunOptions& options, SampleOptions sample) {
  sample.temp = options.temp.value_or(sample.temp);
  sample.top_k = options.top_k.value_or(sample.top_k);
  sample.top_p = options.top_p.value_or(sample.top_p);
  sample.min_p = options.min_p.value_or(sample.min_p);
  sample.repeat_penalty = options.repeat_penalty.value_or(sample.repeat_penalty);
  sample.presence_penalty = options.presence_penalty.value_or(sample.presence_penalty);
  sample.frequency_penalty = options.frequency_penalty.value_or(sample.frequency_penalty);
  sample.repeat_last_n = options.repeat_last_n.value_or(sample.repeat_last_n);
  sample.seed = options.common.seed ? *options.common.seed : std::random_device{}();
  return sample;
}

Request request_for(const RunOptions& options, const SampleOptions& sample, const std::string& prompt) {
  Request request;
  if (options.raw) {
    request.text = prompt;
  } else {
    nlohmann::ordered_json messages = nlohmann::ordered_json::array();
    if (!options.system.empty()) messages.push_back({{"role", "system"}, {"content", options.system}});
    messages.push_back({{"role", "user"}, {"content", prompt}});
    request.messages = messages.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  request.sampling = sample;
  request.max_tokens = options.max_tokens;
  request.stop = options.stop;
  return request;
}

std::string answer_json(const ModelInfo& info, const Answer& answer, double load_s) {
  const Usage& usage = answer.usage;
  const nlohmann::ordered_json json{{"text", answer.text},
                                    {"tokens", answer.tokens},
                                    {"finish", name_of(answer.finish)},
                                    {"prompt_tokens", usage.prompt_tokens},
                                    {"reused_tokens", usage.reused_tokens},
                                    {"generated_tokens", usage.generated_tokens},
                                    {"prefill_tokens_per_s", usage.prefill_tokens_per_s},
                                    {"decode_tokens_per_s", usage.decode_tokens_per_s},
                                    {"isa", info.isa},
                                    {"threads", info.threads},
                                    {"activations", info.activations},
                                    {"load_s", load_s},
                                    {"first_token_s", answer.first_token_s}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<void> answer_once(Engine& engine, const RunOptions& options, const std::string& prompt, double load_s,
                         Context& context) {
  const SampleOptions sample = sampling(options, engine.info().sampling);
  std::function<void(std::string_view)> show;
  if (!options.json) show = show_text;
  const InterruptFlag interrupt;
  const Result<Answer> result = answer(engine, request_for(options, sample, prompt), context.start, show, interrupt);
  if (!result) return fail(result.error());
  if (options.json) {
    fmt::print("{}\n", answer_json(engine.info(), *result, load_s));
  } else {
    fmt::print("\n");
    std::fflush(stdout);
  }
  fmt::print(stderr, "plait: {}\n", figures(engine.info(), result->usage));
  if (options.common.verbose && result->usage.decode_tokens_per_s > 0) {
    fmt::print(stderr, "plait: {}\n",
               bandwidth_text(options.common, engine.info().step_weight_bytes, result->usage.decode_tokens_per_s));
  }
  if (result->finish == FinishReason::kCancel) context.exit_status = kExitInterrupted;
  return {};
}

void print_expert_counts(const Engine& engine) {
  const std::vector<std::vector<std::uint64_t>> layers = engine.expert_counts();
  bool any = false;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (layers[i].empty()) continue;
    any = true;
    fmt::print(stderr, "plait: layer {}, how often each expert was chosen: {}\n", i, fmt::join(layers[i], " "));
  }
  if (!any) fmt::print(stderr, "plait: the model has no experts to count\n");
}

Result<void> run(const RunOptions& options, Context& context) {
  if (options.prompt && options.file) return context.usage("run: only one of -p and -f is wanted");
  std::string prompt = options.prompt.value_or("");
  if (options.file) {
    Result<std::string> text = read_text_file(*options.file, std::size_t{64} << 20);
    if (!text) return fail(text.error());
    prompt = std::move(*text);
  }
  const bool chats = !options.prompt && !options.file;
  if (chats && options.json) return context.usage("run: --json wants a prompt, by -p or -f");
  if (chats && options.raw) return context.usage("run: --no-chat wants a prompt, by -p or -f");
  Result<EngineOptions> with = engine_options(options.common, options.model);
  if (!with) return fail(with.error());
  with->max_sequences = 1;
  Result<Engine> engine = Engine::open(*with);
  if (!engine) return fail(engine.error());
  const double load_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - context.start).count();
  print_engine(options.common, engine->info(), load_s);
  Request request;
  request.sampling = sampling(options, engine->info().sampling);
  request.max_tokens = options.max_tokens;
  request.stop = options.stop;
  Result<void> done =
      chats ? chat(*engine, options.system, request) : answer_once(*engine, options, prompt, load_s, context);
  if (done && options.stats) print_expert_counts(*engine);
  return done;
}

void add_sampling_flags(CLI::App& command, RunOptions& options) {
  constexpr const char* kGroup = "Sampling";
  command.add_option("--temp", options.temp, "temperature; 0: the likeliest token; default: 0.8")
      ->type_name("X")
      ->group(kGroup);
  command.add_option("--top-k", options.top_k, "only the k likeliest; 0: all; default: 40")
      ->type_name("N")
      ->group(kGroup);
  command.add_option("--top-p", options.top_p, "only the likeliest that make up p; 1: all; default: 0.95")
      ->type_name("X")
      ->group(kGroup);
  command.add_option("--min-p", options.min_p, "only those at least p as likely as the best; default: 0.05")
      ->type_name("X")
      ->group(kGroup);
  command.add_option("--repeat-penalty", options.repeat_penalty, "divides logits of tokens seen before; 1: off")
      ->type_name("X")
      ->group(kGroup);
  command.add_option("--repeat-last-n", options.repeat_last_n, "how far back that looks; default: 64; -1: all")
      ->type_name("N")
      ->group(kGroup);
  command.add_option("--presence-penalty", options.presence_penalty, "taken from logits of tokens seen before")
      ->type_name("X")
      ->group(kGroup);
  command.add_option("--frequency-penalty", options.frequency_penalty, "the same, for each time seen")
      ->type_name("X")
      ->group(kGroup);
}

}  // namespace

void add_run(CLI::App& app, Context& context) {
  RunOptions& options = context.make<RunOptions>();
  CLI::App& command = add_command(app, CommandGroup::kUse,
                                  {.name = "run",
                                   .summary = "answers a prompt, or chats",
                                   .examples = "  plait run smollm2 -p \"Why is the sky blue?\"\n"
                                               "  plait run model.gguf                       # a chat\n"
                                               "  plait run model.gguf -f question.txt -n 200 --temp 0 --json\n"
                                               "  plait run model.gguf --no-chat -p \"Once upon a time\""});
  command.add_option("model", options.model, "a file or a name")->required()->type_name("MODEL");
  command.add_option("-p,--prompt", options.prompt, "the prompt; without one, a chat")->type_name("TEXT");
  command.add_option("-f,--file", options.file, "a file with the prompt")->type_name("FILE");
  command.add_option("--system", options.system, "the system prompt")->type_name("TEXT");
  command.add_flag("--no-chat", options.raw, "take the prompt as it is, without the chat template");
  command
      .add_option("-n,--n-predict", options.max_tokens,
                  "most tokens to generate; -1 (default): until the context is full")
      ->check(CLI::Range(-1, 1 << 30))
      ->type_name("N");
  command.add_option("--stop", options.stop, "end before this text; may be given again")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  command.add_flag("--json", options.json, "print one JSON object");
  command.add_flag("--stats", options.stats, "say in the end how often each expert was chosen");
  add_sampling_flags(command, options);
  add_common_options(command, options.common);
  on_run(command, context, [&options, &context] { return run(options, context); });
}

}  // namespace plait
