// plait eval: perplexity of a text.
#include "commands.h"

namespace plait {

void add_eval(CLI::App& app, Context& context) {
  CLI::App& command = add_command(
      app, Group::kExamine, {.name = "eval", .summary = "perplexity of a text", .examples = "  plait eval --help"});
  on_run(command, context, [] { return Result<void>(fail(ErrorCode::kUnsupported, "plait eval is not there yet")); });
}

}  // namespace plait
