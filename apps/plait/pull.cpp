// plait pull: downloads a model, verifies and keeps it.
#include "commands.h"

namespace plait {

void add_pull(CLI::App& app, Context& context) {
  CLI::App& command = add_command(
      app, Group::kUse,
      {.name = "pull", .summary = "downloads a model, verifies and keeps it", .examples = "  plait pull --help"});
  on_run(command, context, [] { return Result<void>(fail(ErrorCode::kUnsupported, "plait pull is not there yet")); });
}

}  // namespace plait
