// Stepper: one pass after another over a loaded model and its cache, with the scratch memory for it.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "cache/cache.h"
#include "models/model.h"

namespace plait {

struct StepperOptions {
  std::size_t cache_bytes = 0;  // Budget for rows and anchors.
  int max_tokens = 512;         // Of one step.
  int max_context = 0;          // Longest sequence, for messages about memory.
};

class Stepper {
 public:
  Stepper() = default;  // Holds nothing yet.
  // What create() takes beside the cache: scratch memory of a step, the backend's own included.
  static std::size_t scratch_bytes(const Model& model, const Backend& backend, int max_tokens);
  static Result<Stepper> create(const Model& model, Backend& backend, const StepperOptions& options);

  Cache& cache() { return *cache_; }
  const Cache& cache() const { return *cache_; }
  int max_tokens() const { return max_tokens_; }
  std::size_t scratch_bytes() const { return scratch_bytes(*model_, *backend_, max_tokens_); }

  // Prepares the work, runs the pass, and hands over each output in batch order, its logits or, where the work wants
  // that, its hidden row: `output(i, row)`, i counting from 0; the row is valid during the call and may be changed.
  // Commits nothing. `observe` sees the residual stream, as in Model::forward. Fails only where Cache::prepare does.
  using OutputSink = std::function<void(int index, std::span<float> row)>;
  Result<void> step(std::span<const Work> work, const OutputSink& output, const Model::Observer& observe = {});

  // The batch of the last step.
  const Batch& batch() const { return batch_; }

 private:
  void mark_hidden(std::span<const Work> work);

  const Model* model_ = nullptr;
  Backend* backend_ = nullptr;
  std::unique_ptr<Cache> cache_;
  std::unique_ptr<Buffer> memory_;
  Batch batch_;
  std::vector<char> hidden_;  // One an output: its hidden row is wanted.
  std::vector<float> row_;
  int max_tokens_ = 0;
};

}  // namespace plait
