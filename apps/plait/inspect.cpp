// plait inspect: shows what a model file holds, from its header alone.
#include "examine/inspect.h"

#include <fmt/format.h>

#include <cstdio>

#include "commands.h"
#include "model_options.h"

namespace plait {
namespace {

struct ShowOptions {
  CommonOptions common;
  std::string model;
  InspectParts parts;
  bool json = false;
};

Result<void> run_inspect(const ShowOptions& options) {
  auto load = load_options(options.common, options.model);
  if (!load) return fail(std::move(load.error()));
  auto file = open_model_file(load->path);
  if (!file) return fail(std::move(file.error()));
  auto backend = make_cpu_backend(load->cpu);
  if (!backend) return fail(std::move(backend.error()));
  const Inspection inspection = inspect(**file, {.backend = backend->get(),
                                                 .key_type = load->key_type,
                                                 .value_type = load->value_type,
                                                 .context = options.common.context_size,
                                                 .batch = options.common.batch_size});
  const std::string text = options.json ? inspection_json(inspection, **file, options.parts) + "\n"
                                        : inspection_text(inspection, **file, options.parts);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return {};
}

}  // namespace

void add_inspect(CLI::App& app, Context& context) {
  CLI::App& command = add_command(app, CommandGroup::kUse,
                                  {.name = "inspect",
                                   .summary = "shows what a model file holds",
                                   .examples = "  plait inspect smollm2\n"
                                               "  plait inspect model.gguf --tensors\n"
                                               "  plait inspect model.gguf --plan -c 32768 --cache-type-k f32"});
  auto& options = context.make<ShowOptions>();
  command.add_option("model", options.model, "a file or a name")->required()->type_name("MODEL");
  command.add_flag("--tensors", options.parts.tensors, "list every tensor");
  command.add_flag("--plan", options.parts.plan, "how it is computed here, and the memory that takes, item by item");
  command.add_flag("--json", options.json, "print one JSON object");
  add_common_options(command, options.common);
  on_run(command, context, [&options] { return run_inspect(options); });
}

}  // namespace plait
