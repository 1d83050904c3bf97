// plait tokenize: text to token ids.
#include "commands.h"

namespace plait {

void add_tokenize(CLI::App& app, Context& context) {
  CLI::App& command =
      add_command(app, CommandGroup::kExamine,
                  {.name = "tokenize", .summary = "text to token ids", .examples = "  plait tokenize --help"});
  on_run(command, context,
         [] { return Result<void>(fail(ErrorCode::kUnsupported, "plait tokenize is not there yet")); });
}

}  // namespace plait
