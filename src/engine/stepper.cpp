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
  stepper.hidden_.reserve(static_cast<std::size_t>(options.max_tokens));
  stepper.row_.resize(static_cast<std::size_t>(std::max(model.spec().vocabulary, model.spec().dim)));
  return stepper;
}

void Stepper::mark_hidden(std::span<const Work> work) {
  hidden_.clear();
  std::size_t segment = 0;
  for (const int output : batch_.outputs) {
    while (output >= batch_.segments[segment].begin + batch_.segments[segment].count) ++segment;
    hidden_.push_back(work[segment].hidden ? 1 : 0);
  }
}

Result<void> Stepper::step(std::span<const Work> work, const OutputSink& output, const Model::Observer& observe) {
  if (Result<void> prepared = cache_->prepare(work, batch_); !prepared) return fail(prepared.error());
  mark_hidden(work);
  Workspace scratch(*memory_);
  const Tensor hidden = model_->forward(*backend_, scratch, batch_, cache_->states(), observe);
  const std::size_t mark = scratch.mark();
  for (int begin = 0, end = 0; begin < hidden.rows; begin = end) {
    const bool as_they_are = hidden_[static_cast<std::size_t>(begin)] != 0;
    const auto same = [&](int row) { return (hidden_[static_cast<std::size_t>(row)] != 0) == as_they_are; };
    for (end = begin + 1; end < hidden.rows && end - begin < kLogitRows && same(end); ++end) continue;
    Tensor rows = hidden.slice_rows(begin, end - begin);
    if (!as_they_are) rows = model_->logits(*backend_, scratch, rows);
    const std::span<float> row = std::span(row_).first(static_cast<std::size_t>(rows.cols));
    for (int i = begin; i < end; ++i) {
      backend_->read(rows.slice_rows(i - begin, 1), row);
      output(i, row);
    }
    scratch.release(mark);
  }
  return {};
}

}  // namespace plait
