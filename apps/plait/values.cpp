// plait values: one tensor, decoded.
#include "commands.h"

namespace plait {

void add_values(CLI::App& app, Context& context) {
  CLI::App& command =
      add_command(app, CommandGroup::kExamine,
                  {.name = "values", .summary = "one tensor, decoded", .examples = "  plait values --help"});
  on_run(command, context, [] { return Result<void>(fail(ErrorCode::kUnsupported, "plait values is not there yet")); });
}

}  // namespace plait
