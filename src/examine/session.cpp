// Session: load, plan the memory, take it.
#include "examine/session.h"

#include <fmt/format.h>

#include "base/memory.h"
#include "engine/run_report.h"

namespace plait {

Result<Session> open_session(const SessionOptions& options) {
  Result<Loaded> loaded = load_model(options.load);
  if (!loaded) return fail(loaded.error());
  MemoryRequest request = options.memory;
  request.scratch_bytes = Stepper::scratch_bytes(*loaded->model, *loaded->backend, options.batch);
  Result<MemoryPlan> memory = plan_memory(loaded->model->spec(), request, available_memory(), &loaded->notes);
  if (!memory) return fail(memory.error());
  Result<Stepper> stepper = Stepper::create(
      *loaded->model, *loaded->backend,
      {.cache_bytes = memory->cache_bytes, .max_tokens = options.batch, .max_context = memory->context});
  if (!stepper) return fail(stepper.error());
  KeptThread kept = loaded->backend->keep_caller();
  return Session{std::move(*loaded), std::move(*stepper), *memory, std::move(kept)};
}

std::vector<std::string> plan_lines(const Session& session) {
  std::vector<std::string> lines = report_lines(run_report(*session.loaded.file, *session.loaded.backend));
  lines.push_back(memory_line({.weight_bytes = session.spec().weight_bytes,
                               .cache_bytes = session.memory.cache_bytes,
                               .scratch_bytes = session.stepper.scratch_bytes()}));
  return lines;
}

Result<void> check_ids(std::span<const Token> ids, int vocabulary) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] >= 0 && ids[i] < vocabulary) continue;
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("token id {} at place {} is not in the vocabulary of {} tokens", ids[i], i, vocabulary));
  }
  return {};
}

}  // namespace plait
