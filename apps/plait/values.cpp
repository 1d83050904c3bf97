// plait values: one tensor, decoded.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "commands.h"
#include "examine/output_path.h"
#include "examine/values.h"
#include "interrupt.h"
#include "model_store.h"

namespace plait {
namespace {

struct ValuesOptions {
  std::string model, tensor, out;
  bool json = false;
};

Result<void> run_values(const ValuesOptions& options) {
  auto path = resolve_model(options.model);
  if (!path) return fail(std::move(path.error()));
  auto file = open_model_file(*path);
  if (!file) return fail(std::move(file.error()));
  auto tensor = tensor_named(**file, options.tensor);
  if (!tensor) return fail(std::move(tensor.error()));
  if (auto checked = check_not_model(options.out, *path); !checked) return checked;
  const InterruptFlag interrupt;
  if (auto done = write_values(**tensor, options.out, [&] { return interrupt.raised(); }); !done) return done;
  if (!options.json) {
    fmt::print("{}\n", shape_text(**tensor));
    return {};
  }
  const auto& extents = (*tensor)->extents;
  const std::vector<std::int64_t> shape(extents.begin(), extents.begin() + (*tensor)->dimensions);
  const nlohmann::json line = {{"tensor", printable((*tensor)->name)},
                               {"type", std::string((*tensor)->format->info.name)},
                               {"shape", shape},
                               {"values", (*tensor)->values()}};
  fmt::print("{}\n", line.dump());
  return {};
}

}  // namespace

void add_values(CLI::App& app, Context& context) {
  CLI::App& command = add_command(app, CommandGroup::kExamine,
                                  {.name = "values",
                                   .summary = "decodes one tensor to f32, prints its shape",
                                   .examples = "  plait values model.gguf blk.0.attn_q.weight --out q.f32\n"
                                               "  plait inspect model.gguf --tensors    lists the names"});
  auto& options = context.make<ValuesOptions>();
  command.add_option("model", options.model, "a file or a name")->required()->type_name("MODEL");
  command.add_option("tensor", options.tensor, "the name of a tensor")->required()->type_name("TENSOR");
  command.add_option("--out", options.out, "where the values go: f32, little-endian, row after row")->required();
  command.add_flag("--json", options.json, "prints name, type and shape as JSON");
  on_run(command, context, [&options] { return run_values(options); });
}

}  // namespace plait
