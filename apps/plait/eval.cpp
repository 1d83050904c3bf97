// plait eval: perplexity of a text.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "commands.h"
#include "examine/perplexity.h"
#include "id_list.h"
#include "model_options.h"
#include "progress.h"

namespace plait {
namespace {

struct EvalOptions {
  CommonOptions common;
  std::string model, text;
  PerplexityOptions windows;
  bool json = false;
};

Result<void> run_eval(const EvalOptions& options, Context& context) {
  if (options.windows.stride > options.windows.window) {
    return context.usage(
        fmt::format("eval: --stride {} is larger than --window {}", options.windows.stride, options.windows.window));
  }
  const Result<std::string> text = read_text_file(options.text);
  if (!text) return fail(text.error());
  Result<SessionOptions> session_with = session_options(options.common, options.model);
  if (!session_with) return fail(session_with.error());
  session_with->memory.context = options.windows.window;
  session_with->batch = std::min(session_with->batch, options.windows.window);
  Result<Session> session = open_session(*session_with);
  if (!session) return fail(session.error());
  print_notes(session->loaded.notes);
  print_plan(options.common, *session);
  const Result<std::vector<Token>> tokens =
      session->loaded.tokenizer->encode(*text, {.add_special = false, .parse_special = false});
  if (!tokens) return fail(tokens.error());

  std::optional<Progress> bar;
  const Result<Perplexity> result = perplexity(*session, *tokens, options.windows, [&](int done, int windows) {
    if (!bar) bar.emplace("eval", static_cast<std::uint64_t>(windows), ProgressUnit::kCount);
    bar->update(static_cast<std::uint64_t>(done));
  });
  if (bar) bar->finish();
  if (!result) return fail(result.error());
  if (options.json) {
    const Backend& backend = *session->loaded.backend;
    const nlohmann::ordered_json json{
        {"isa", backend.name()},           {"threads", backend.threads()}, {"activations", backend.activations()},
        {"tokens", result->tokens},        {"scored", result->scored},     {"nll", result->nll},
        {"perplexity", result->perplexity}};
    fmt::print("{}\n", json.dump());
  } else {
    fmt::print("perplexity {:.4f} ({:.5f} nats a token, {} of {} tokens scored)\n", result->perplexity, result->nll,
               result->scored, result->tokens);
  }
  return {};
}

}  // namespace

void add_eval(CLI::App& app, Context& context) {
  EvalOptions& options = context.make<EvalOptions>();
  CLI::App& command =
      add_command(app, CommandGroup::kExamine,
                  {.name = "eval",
                   .summary = "perplexity of a text",
                   .examples = "  plait eval smollm2 --text book.txt\n"
                               "  plait eval model.gguf --text book.txt --window 1024 --stride 512 --json"});
  command.add_option("model", options.model, "a file or a name")->required()->type_name("MODEL");
  command.add_option("--text", options.text, "the text")->required()->type_name("FILE");
  command.add_option("--window", options.windows.window, "tokens of a window, each from an empty past; default: 512")
      ->check(CLI::Range(2, 1 << 20))
      ->type_name("N");
  command.add_option("--stride", options.windows.stride, "from one window's start to the next; default: 512")
      ->check(CLI::Range(1, 1 << 20))
      ->type_name("N");
  command.add_flag("--json", options.json, "print one JSON object");
  add_common_options(command, options.common);
  on_run(command, context, [&options, &context] { return run_eval(options, context); });
}

}  // namespace plait
