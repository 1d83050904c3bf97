// plait bench: measures prefill and decode.
#include "commands.h"

namespace plait {

void add_bench(CLI::App& app, Context& context) {
  CLI::App& command =
      add_command(app, Group::kUse,
                  {.name = "bench", .summary = "measures prefill and decode", .examples = "  plait bench --help"});
  on_run(command, context, [] { return Result<void>(fail(ErrorCode::kUnsupported, "plait bench is not there yet")); });
}

}  // namespace plait
