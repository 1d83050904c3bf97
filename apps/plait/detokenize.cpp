// plait detokenize: token ids to text.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "commands.h"
#include "examine/tokens.h"
#include "id_list.h"
#include "model_options.h"
#include "model_store.h"
#include "token_lines.h"

namespace plait {
namespace {

struct DetokenizeFlags {
  std::string model, ids;
  bool lines = false, text = false, no_special = false;
};

// Exactly the bytes; on a terminal without its codes, and with an end of line.
void print_bytes(const std::string& bytes) {
  const bool terminal = isatty(STDOUT_FILENO) == 1;
  const std::string shown = terminal ? without_terminal_codes(bytes) + "\n" : bytes;
  std::fwrite(shown.data(), 1, shown.size(), stdout);
}

Result<void> run_detokenize(const DetokenizeFlags& flags, Context& context) {
  if (flags.lines != flags.ids.empty()) {
    return context.usage("plait detokenize takes either IDS or --lines, which reads them from standard input");
  }
  const Result<std::string> path = resolve_model(flags.model);
  if (!path) return fail(path.error());
  std::vector<std::string> notes;
  const Result<std::unique_ptr<Tokenizer>> tokenizer = open_tokenizer(*path, {}, &notes);
  if (!tokenizer) return fail(tokenizer.error());
  const DetokenizeOptions options{.special = !flags.no_special, .drop_first_space = flags.text};
  if (flags.lines) {
    return answer_lines([&](std::string_view line) { return detokenize_line(**tokenizer, line, options); });
  }
  const Result<std::vector<Token>> ids = parse_ids(flags.ids, "IDS");
  if (!ids) return fail(ids.error());
  const Result<std::string> bytes = detokenize(**tokenizer, *ids, options);
  if (!bytes) return fail(bytes.error());
  print_bytes(*bytes);
  return {};
}

}  // namespace

void add_detokenize(CLI::App& app, Context& context) {
  CLI::App& command = add_command(app, CommandGroup::kExamine,
                                  {.name = "detokenize",
                                   .summary = "token ids to text",
                                   .examples = "  plait detokenize smollm2 19556,905\n"
                                               "  echo '[19556,905]' | plait detokenize smollm2 --lines"});
  auto& flags = context.make<DetokenizeFlags>();
  command.add_option("MODEL", flags.model, "a .gguf file or a model's name")->required();
  command.add_option("IDS", flags.ids, "token ids, separated by commas or white space");
  command.add_flag("--lines", flags.lines, "read one JSON array of ids a line, print {\"hex\"} a line");
  command.add_flag("--text", flags.text, "drop the first space, as SentencePiece does");
  command.add_flag("--no-special", flags.no_special, "leave special tokens out");
  on_run(command, context, [&flags, &context] { return run_detokenize(flags, context); });
}

}  // namespace plait
