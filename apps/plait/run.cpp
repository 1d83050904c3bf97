// plait run: answers a prompt, or chats.
#include "commands.h"

namespace plait {

void add_run(CLI::App& app, Context& context) {
  CLI::App& command =
      add_command(app, CommandGroup::kUse,
                  {.name = "run", .summary = "answers a prompt, or chats", .examples = "  plait run --help"});
  on_run(command, context, [] { return Result<void>(fail(ErrorCode::kUnsupported, "plait run is not there yet")); });
}

}  // namespace plait
