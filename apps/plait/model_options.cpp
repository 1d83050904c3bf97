// From the common flags to what the library's loaders take.
#include "model_options.h"

#include <fmt/format.h>

#include <optional>

#include "base/thread_pool.h"
#include "commands.h"
#include "examine/bandwidth.h"
#include "model_store.h"
#include "progress.h"

namespace plait {
namespace {

RowType row_type(const std::string& name) {
  if (name == "f32") return RowType::kF32;
  return name == "bf16" ? RowType::kBF16 : RowType::kF16;
}

// A bar that each copy of the function makes for itself when it is first called.
class LoadProgress {
 public:
  LoadProgress() = default;
  LoadProgress(const LoadProgress&) {}
  LoadProgress& operator=(const LoadProgress&) = delete;

  void operator()(size_t done, size_t total) {
    if (!bar_) bar_.emplace("load", total, ProgressUnit::kBytes);
    bar_->update(done);
    if (done == total) bar_->finish();
  }

 private:
  std::optional<Progress> bar_;
};

}  // namespace

Result<LoadOptions> load_options(const CommonOptions& common, const std::string& model) {
  Result<std::string> path = resolve_model(model);
  if (!path) return fail(path.error());
  return LoadOptions{
      .path = std::move(*path),
      .cpu = {.threads = common.threads, .isa = common.isa, .pin = common.pin, .activations = common.activations},
      .file = {.use_mmap = common.map_file, .lock_memory = common.lock_memory},
      .key_type = row_type(common.cache_type_k),
      .value_type = row_type(common.cache_type_v),
      .check_values = common.check,
      .repack_cache = common.repack_cache,
      .progress = LoadProgress()};
}

Result<SessionOptions> session_options(const CommonOptions& common, const std::string& model) {
  Result<LoadOptions> load = load_options(common, model);
  if (!load) return fail(load.error());
  return SessionOptions{.load = std::move(*load),
                        .memory = {.context = common.context_size, .cache_bytes = common.memory_bytes},
                        .batch = common.batch_size};
}

void print_plan(const CommonOptions& common, const Session& session) {
  if (!common.verbose) return;
  for (const std::string& line : plan_lines(session)) fmt::print(stderr, "plait: {}\n", line);
}

std::string bandwidth_text(const CommonOptions& common, std::size_t step_weight_bytes, double tokens_per_s) {
  ThreadPool pool(plan_threads(read_topology("/", allowed_processors()), {common.threads, common.pin}));
  const KeptThread kept = pool.keep_caller();
  const double bound = ReadBandwidth(pool).gbps(3);
  const double reached = static_cast<double>(step_weight_bytes) * tokens_per_s / 1e9;
  return fmt::format("{:.1f} GB/s of weights read in decode, {:.0f} % of the {:.1f} GB/s that memory can be read at",
                     reached, bound > 0 ? 100 * reached / bound : 0, bound);
}

void print_notes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) fmt::print(stderr, "plait: note: {}\n", without_terminal_codes(note));
}

}  // namespace plait
