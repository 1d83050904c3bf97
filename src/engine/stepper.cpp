// Stepper: prepare, forward, logits.
#include "engine/stepper.h"

#include <algorithm>

namespace plait {
namespace {

constexpr int kLogitRows = 32;  // Rows of logits held at once: a vocabulary is wide.

}  // namespace

std::size_t Stepper::scratch_bytes(const Model& model, const Backend& backend, int max_tokens) {
  return model.scratch_bytes(max_tokens, std::min(kLogitRows, max_tokens)) + model.reserve_bytes(backend, max_tokens);
}

Result<Stepper> Stepper::create(const Model& model, Backend& backend, const StepperOptions& options) {
  Stepper stepper;
  stepper.model_ = &model;
  stepper.backend_ = &backend;
  stepper.max_tokens_ = options.max_tokens;
  if (Result<void> reserved = model.reserve(backend, options.max_tokens); !reserved) return fail(reserved.error());
  const std::vector<StateSpec> states = model.spec().states();
  Result<std::unique_ptr<Cache>> cache = Cache::create(backend, states, options.cache_bytes);
  if (!cache) return fail(cache.error());
  stepper.cache_ = std::move(*cache);
  const int rows = std::min(kLogitRows, options.max_tokens);
  Result<std::unique_ptr<Buffer>> memory = backend.allocate(model.scratch_bytes(options.max_tokens, rows));
  if (!memory) return fail(memory.error());
  stepper.memory_ = std::move(*memory);
  stepper.row_.resize(static_cast<std::size_t>(model.spec().vocabulary));
  return stepper;
}

Result<void> Stepper::step(std::span<const Work> work, const LogitsSink& logits, const Model::Observer& observe) {
  if (Result<void> prepared = cache_->prepare(work, batch_); !prepared) return fail(prepared.error());
  Workspace scratch(*memory_);
  const Tensor hidden = model_->forward(*backend_, scratch, batch_, cache_->states(), observe);
  const std::size_t mark = scratch.mark();
  for (int begin = 0; begin < hidden.rows; begin += kLogitRows) {
    const int count = std::min(kLogitRows, hidden.rows - begin);
    const Tensor rows = model_->logits(*backend_, scratch, hidden.slice_rows(begin, count));
    for (int i = 0; i < count; ++i) {
      backend_->read(rows.slice_rows(i, 1), row_);
      logits(begin + i, row_);
    }
    scratch.release(mark);
  }
  return {};
}

}  // namespace plait
