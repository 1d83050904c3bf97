// plait render: messages to a prompt, by a chat template.
#include "commands.h"

namespace plait {

void add_render(CLI::App& app, Context& context) {
  CLI::App& command = add_command(
      app, CommandGroup::kExamine,
      {.name = "render", .summary = "messages to a prompt, by a chat template", .examples = "  plait render --help"});
  on_run(command, context, [] { return Result<void>(fail(ErrorCode::kUnsupported, "plait render is not there yet")); });
}

}  // namespace plait
