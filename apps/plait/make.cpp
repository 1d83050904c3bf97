// plait make: writes a random model.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/thread_plan.h"
#include "commands.h"
#include "common_options.h"
#include "examine/make.h"
#include "interrupt.h"
#include "progress.h"

namespace plait {
namespace {

struct MakeOptions {
  MakeRequest request;
  bool json = false;
};

Result<void> run_make(const MakeOptions& options) {
  MakeRequest request = options.request;
  if (request.threads == 0) request.threads = plan_threads(read_topology("/", allowed_processors()), {}).threads;
  const InterruptFlag interrupt;
  Progress progress("writing", 0, ProgressUnit::kBytes);
  request.progress = [&](std::size_t done, std::size_t total) {
    progress.set_total(total);
    progress.update(done);
    return !interrupt.raised();
  };
  const Result<MakeReport> report = make_model(request);
  if (!report) return fail(report.error());
  progress.finish();
  if (options.json) {
    const nlohmann::ordered_json json = {{"path", request.path},
                                         {"type", report->type},
                                         {"tensors", report->tensors},
                                         {"parameters", report->parameters},
                                         {"bytes", report->bytes}};
    fmt::print("{}\n", json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    return {};
  }
  fmt::print("{}\n{} weights in {} tensors, {}, {:.1f} MB\n", request.path, report->parameters, report->tensors,
             report->type, static_cast<double>(report->bytes) / 1e6);
  return {};
}

}  // namespace

void add_make(CLI::App& app, Context& context) {
  MakeOptions& options = context.make<MakeOptions>();
  options.request.threads = 0;
  CLI::App& command = add_command(
      app, CommandGroup::kExamine,
      {.name = "make",
       .summary = "writes a random model",
       .examples =
           "  plait make --arch llama --seed 1 --out tiny.gguf\n"
           "  plait make --arch qwen3 --shape qwen3-0.6b --type q4_k --seed 1 --out qwen3.gguf\n"
           "  plait make --arch llama --shape my-shape.json --type f16 --seed 7 --out mine.gguf\n"
           "A shape file holds the architecture's metadata keys without its prefix, and \"tied\":\n"
           "  {\"vocab_size\": 384, \"context_length\": 1024, \"embedding_length\": 64, \"block_count\": 2, ...}"});
  MakeRequest& request = options.request;
  command.add_option("--arch", request.architecture, "llama, qwen3, ...")->required()->type_name("NAME");
  command.add_option("--shape", request.shape, "a name from the architecture's table, or a JSON file (default: tiny)")
      ->type_name("NAME|FILE");
  command
      .add_option("--type", request.type,
                  "of all matrices (default: the first of q4_k, q8_0 and f16 that fits all widths)")
      ->type_name("TYPE");
  command.add_option("-s,--seed", request.seed, "the same seed gives the same bytes")
      ->check(seed_range())
      ->required()
      ->type_name("N");
  command.add_option("-o,--out", request.path, "the file to write")->required()->type_name("FILE");
  command.add_option("-t,--threads", request.threads, "how many work (default: one a performance core)")
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
  command.add_flag("--json", options.json, "print {path, type, tensors, parameters, bytes}");
  on_run(command, context, [&options] { return run_make(options); });
}

}  // namespace plait
