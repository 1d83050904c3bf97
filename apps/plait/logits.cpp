// plait logits: the raw scores of every token.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "commands.h"
#include "examine/logits.h"
#include "examine/output_path.h"
#include "examine/result_file.h"
#include "id_list.h"
#include "interrupt.h"
#include "model_options.h"

namespace plait {
namespace {

struct LogitsOptions {
  CommonOptions common;
  std::string model, ids, ids_file, at = "last", out, hidden;
  int chunk = 0, company = 0, top = 0;
  bool json = false;
};

Result<LogitsRequest> read_request(const LogitsOptions& options, Context& context) {
  if (options.ids.empty() == options.ids_file.empty())
    return context.usage("logits: one of --ids and --ids-file is wanted");
  if (options.out.empty() == (options.top == 0)) return context.usage("logits: one of --out and --top is wanted");
  if (!options.out.empty() && options.out == options.hidden)
    return context.usage("logits: --out and --hidden are the same file, wanted two");
  Result<std::vector<Token>> ids =
      options.ids.empty() ? read_id_file(options.ids_file) : parse_ids(options.ids, "--ids");
  if (!ids) return fail(ids.error());
  if (ids->empty()) return fail(ErrorCode::kInvalidArgument, "the list of token ids is empty, wanted at least one");
  LogitsRequest request{
      .ids = std::move(*ids), .chunk = options.chunk, .company = options.company, .hidden = !options.hidden.empty()};
  const int count = static_cast<int>(request.ids.size());
  if (options.at == "last") {
    request.positions = {count - 1};
  } else if (options.at == "all") {
    request.positions.resize(request.ids.size());
    std::iota(request.positions.begin(), request.positions.end(), 0);
  } else {
    Result<std::vector<Token>> positions = parse_ids(options.at, "--at");
    if (!positions) return fail(positions.error());
    for (const Token position : *positions) {
      if (position >= count || position < 0) {
        return fail(ErrorCode::kInvalidArgument,
                    fmt::format("--at names position {}, but there are {} tokens", position, count));
      }
    }
    request.positions = std::move(*positions);
  }
  return request;
}

// {"position","ids","logits","logsumexp"}: the k best, lowest id first among equals.
std::string top_line(int position, std::span<const float> logits, int k) {
  std::vector<int> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  const std::size_t count = std::min(logits.size(), static_cast<std::size_t>(k));
  const auto better = [&](int a, int b) {
    const float x = logits[static_cast<std::size_t>(a)], y = logits[static_cast<std::size_t>(b)];
    return x > y || (x == y && a < b);
  };
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(), better);
  order.resize(count);
  const double top = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - top);
  nlohmann::ordered_json line;
  line["position"] = position;
  line["ids"] = order;
  for (const int id : order) line["logits"].push_back(logits[static_cast<std::size_t>(id)]);
  line["logsumexp"] = top + std::log(sum);
  return line.dump();
}

std::string report_json(const Session& session, const LogitsReport& report) {
  nlohmann::ordered_json json;
  json["isa"] = session.loaded.backend->name();
  json["threads"] = session.loaded.backend->threads();
  json["activations"] = session.loaded.backend->activations();
  json["steps"] = nlohmann::ordered_json::array();
  for (const LogitsStep& step : report.steps)
    json["steps"].push_back({{"tokens", step.tokens}, {"sequences", step.sequences}});
  return json.dump();
}

Result<void> open_output(const std::string& path, std::optional<ResultFile>& file) {
  if (path.empty()) return {};
  Result<ResultFile> opened = ResultFile::create(path);
  if (!opened) return fail(opened.error());
  file.emplace(std::move(*opened));
  return {};
}

Result<void> run_logits(const LogitsOptions& options, Context& context) {
  Result<LogitsRequest> request = read_request(options, context);
  if (!request) return fail(request.error());
  Result<SessionOptions> session_with = session_options(options.common, options.model);
  if (!session_with) return fail(session_with.error());
  session_with->load.tokenizer = false;
  size_for(*request, *session_with);
  for (const std::string& path : {options.out, options.hidden}) {
    if (Result<void> checked = check_not_model(path, session_with->load.path); !checked) return checked;
  }
  Result<Session> session = open_session(*session_with);
  if (!session) return fail(session.error());
  if (options.common.verbose) print_notes(session->loaded.notes);

  const InterruptFlag interrupt;  // The partial files go before the program does.
  request->stop = [&] { return interrupt.raised(); };
  std::optional<ResultFile> out, hidden;
  if (Result<void> opened = open_output(options.out, out); !opened) return opened;
  if (Result<void> opened = open_output(options.hidden, hidden); !opened) return opened;
  const std::size_t row_bytes = static_cast<std::size_t>(session->spec().vocabulary) * sizeof(float);
  const auto row = [&](int position, std::span<const float> logits) -> Result<void> {
    if (!out) {
      fmt::print("{}\n", top_line(position, logits, options.top));
      return {};
    }
    for (std::size_t i = 0; i < request->positions.size();
         ++i) {  // Rows stand in the order in which they were asked for.
      if (request->positions[i] != position) continue;
      if (Result<void> written = out->write_at(i * row_bytes, std::as_bytes(logits)); !written) return written;
    }
    return {};
  };
  const Result<LogitsReport> report = compute_logits(*session, *request, row);
  if (!report) return fail(report.error());
  if (out) {
    if (Result<void> closed = out->close(); !closed) return closed;
  }
  if (hidden) {
    if (Result<void> written = hidden->write(std::span(report->hidden)); !written) return written;
    if (Result<void> closed = hidden->close(); !closed) return closed;
  }
  if (options.json) fmt::print("{}\n", report_json(*session, *report));
  return {};
}

}  // namespace

void add_logits(CLI::App& app, Context& context) {
  LogitsOptions& options = context.make<LogitsOptions>();
  CLI::App& command =
      add_command(app, CommandGroup::kExamine,
                  {.name = "logits",
                   .summary = "the raw scores of every token",
                   .examples = "  plait logits smollm2 --ids 1,2,3 --top 5\n"
                               "  plait logits model.gguf --ids-file ids.txt --at all --out logits.f32\n"
                               "  plait logits model.gguf --ids 1,2,3 --chunk 1 --company 3 --out logits.f32 --json"});
  command.add_option("model", options.model, "a file or a name")->required()->type_name("MODEL");
  command.add_option("--ids", options.ids, "token ids, separated by commas")->type_name("LIST");
  command.add_option("--ids-file", options.ids_file, "a file of token ids, separated by commas or white space")
      ->type_name("FILE");
  command.add_option("--at", options.at, "positions: a list, all, or last (default)")->type_name("LIST");
  command
      .add_option("--out", options.out, "where the rows go: f32, little-endian, one row of the vocabulary a position")
      ->type_name("FILE");
  command.add_option("--chunk", options.chunk, "prefill in steps of exactly so many tokens")
      ->check(CLI::Range(1, 1 << 16))
      ->type_name("N");
  command.add_option("--company", options.company, "other random sequences in every step")
      ->check(CLI::Range(0, 256))
      ->type_name("N");
  command.add_option("--hidden", options.hidden, "also the residual stream, [layers + 1, tokens, dim]")
      ->type_name("FILE");
  command.add_option("--top", options.top, "print the best so many of each position, instead of --out")
      ->check(CLI::Range(1, 1 << 24))
      ->type_name("K");
  command.add_flag("--json", options.json, "print what was really done");
  add_common_options(command, options.common);
  on_run(command, context, [&options, &context] { return run_logits(options, context); });
}

}  // namespace plait
