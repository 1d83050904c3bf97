// plait detokenize: token ids to text.
#include "commands.h"

namespace plait {

void add_detokenize(CLI::App& app, Context& context) {
  CLI::App& command =
      add_command(app, CommandGroup::kExamine,
                  {.name = "detokenize", .summary = "token ids to text", .examples = "  plait detokenize --help"});
  on_run(command, context,
         [] { return Result<void>(fail(ErrorCode::kUnsupported, "plait detokenize is not there yet")); });
}

}  // namespace plait
