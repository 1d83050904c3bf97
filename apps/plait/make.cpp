// plait make: writes a random model.
#include "commands.h"

namespace plait {

void add_make(CLI::App& app, Context& context) {
  CLI::App& command =
      add_command(app, CommandGroup::kExamine,
                  {.name = "make", .summary = "writes a random model", .examples = "  plait make --help"});
  on_run(command, context, [] { return Result<void>(fail(ErrorCode::kUnsupported, "plait make is not there yet")); });
}

}  // namespace plait
