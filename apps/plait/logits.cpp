// plait logits: the raw scores of every token.
#include "commands.h"

namespace plait {

void add_logits(CLI::App& app, Context& context) {
  CLI::App& command =
      add_command(app, Group::kExamine,
                  {.name = "logits", .summary = "the raw scores of every token", .examples = "  plait logits --help"});
  on_run(command, context, [] { return Result<void>(fail(ErrorCode::kUnsupported, "plait logits is not there yet")); });
}

}  // namespace plait
