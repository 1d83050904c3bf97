// plait bench: how fast a model runs here.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "commands.h"
#include "examine/speed.h"
#include "model_options.h"
#include "progress.h"

namespace plait {
namespace {

struct BenchOptions {
  CommonOptions common;
  std::string model;
  SpeedOptions speed;
  bool json = false;
};

nlohmann::ordered_json test_json(const SpeedTest& test) {
  return {{"kind", test.kind},   {"tokens", test.tokens},
          {"depth", test.depth}, {"median_tokens_per_s", test.median_tokens_per_s},
          {"min", test.min},     {"max", test.max},
          {"gbps", test.gbps},   {"bandwidth_share", test.bandwidth_share}};
}

void print_table(const BenchOptions& options, const Session& session, const SpeedReport& report) {
  const Backend& backend = *session.loaded.backend;
  fmt::print("{}, {}, {} threads, activations of {} bits; memory reads at {:.1f} GB/s\n", options.model, backend.name(),
             backend.threads(), backend.activations(), report.read_gbps);
  fmt::print("{:<8} {:>7} {:>7} {:>12} {:>10} {:>10} {:>7} {:>11}\n", "test", "tokens", "depth", "tokens/s", "min",
             "max", "GB/s", "of memory");
  for (const SpeedTest& test : report.tests) {
    fmt::print("{:<8} {:>7} {:>7} {:>12.1f} {:>10.1f} {:>10.1f} {:>7.1f} {:>10.0f}%\n", test.kind, test.tokens,
               test.depth, test.median_tokens_per_s, test.min, test.max, test.gbps, 100 * test.bandwidth_share);
  }
}

Result<void> run_bench(const BenchOptions& options, Context& context) {
  const SpeedOptions& speed = options.speed;
  if (speed.prefill == 0 && speed.decode == 0)
    return context.usage("bench: -p and -n are both 0, so there is nothing to measure");
  Result<SessionOptions> session_with = session_options(options.common, options.model);
  if (!session_with) return fail(session_with.error());
  session_with->load.tokenizer = false;
  const int wanted = speed.depth + std::max(speed.prefill, speed.decode);
  if (const int given = options.common.context_size.value_or(0); given > 0 && given < wanted) {
    return context.usage(fmt::format("bench: -c is {}, but {} tokens of context are measured", given, wanted));
  }
  session_with->memory.context = wanted;
  session_with->memory.sequences = speed.sequences;
  session_with->batch = std::max(session_with->batch, speed.sequences);
  Result<Session> session = open_session(*session_with);
  if (!session) return fail(session.error());
  print_plan(options.common, *session);

  std::optional<Progress> bar;
  const Result<SpeedReport> report = measure_speed(*session, speed, [&](int done, int rounds) {
    if (!bar) bar.emplace("bench", static_cast<std::uint64_t>(rounds), ProgressUnit::kCount);
    bar->update(static_cast<std::uint64_t>(done));
  });
  if (bar) bar->finish();
  if (!report) return fail(report.error());
  if (!options.json) {
    print_table(options, *session, *report);
    return {};
  }
  nlohmann::ordered_json json{{"model", options.model},
                              {"isa", session->loaded.backend->name()},
                              {"threads", session->loaded.backend->threads()},
                              {"activations", session->loaded.backend->activations()},
                              {"read_gbps", report->read_gbps},
                              {"tests", nlohmann::ordered_json::array()}};
  for (const SpeedTest& test : report->tests) json["tests"].push_back(test_json(test));
  fmt::print("{}\n", json.dump());
  return {};
}

}  // namespace

void add_bench(CLI::App& app, Context& context) {
  BenchOptions& options = context.make<BenchOptions>();
  CLI::App& command = add_command(app, CommandGroup::kUse,
                                  {.name = "bench",
                                   .summary = "how fast a model runs here",
                                   .examples = "  plait bench smollm2\n"
                                               "  plait bench model.gguf -p 512 -n 128 -r 5 -t 2 --json\n"
                                               "  plait bench model.gguf -p 0 -n 64 --sequences 8"});
  command.add_option("model", options.model, "a file or a name")->required()->type_name("MODEL");
  command.add_option("-p,--n-prompt", options.speed.prefill, "tokens of prefill; default: 512; 0: none")
      ->check(CLI::Range(0, 1 << 24))
      ->type_name("N");
  command.add_option("-n,--n-gen", options.speed.decode, "tokens of decode; default: 128; 0: none")
      ->check(CLI::Range(0, 1 << 24))
      ->type_name("N");
  command
      .add_option("-d,--n-depth", options.speed.depth, "tokens of context before, random and not computed; default: 0")
      ->check(CLI::Range(0, 1 << 24))
      ->type_name("N");
  command.add_option("-r,--repetitions", options.speed.rounds, "rounds after a first that does not count; default: 5")
      ->check(CLI::Range(1, 1000))
      ->type_name("N");
  command.add_option("--sequences", options.speed.sequences, "sequences that decode together; default: 1")
      ->check(CLI::Range(1, 256))
      ->type_name("N");
  command.add_flag("--json", options.json, "print one JSON object");
  add_common_options(command, options.common);
  on_run(command, context, [&options, &context] { return run_bench(options, context); });
}

}  // namespace plait
