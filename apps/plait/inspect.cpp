// plait inspect: shows what a model file holds.
#include "commands.h"

namespace plait {

void add_inspect(CLI::App& app, Context& context) {
  CLI::App& command = add_command(
      app, CommandGroup::kUse,
      {.name = "inspect", .summary = "shows what a model file holds", .examples = "  plait inspect --help"});
  on_run(command, context,
         [] { return Result<void>(fail(ErrorCode::kUnsupported, "plait inspect is not there yet")); });
}

}  // namespace plait
