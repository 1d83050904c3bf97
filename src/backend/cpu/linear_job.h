// LinearJob: one product of a CPU backend, in a form whose pairs and tokens can be cut up; LinearScratch: its memory.
#pragma once

#include <cstddef>

#include "backend/cpu/packing.h"
#include "backend/ops.h"
#include "kernels/kernels.h"
#include "kernels/tile.h"

namespace plait {

// A kernel for each projection: the format's own, or the expanded one with the format to expand from.
struct LinearPlan {
  const LinearKernel* kernel = nullptr;
  bool expand = false;
};

// What one product reads and writes, apart from where its pairs begin and end.
struct LinearJob {
  LinearPlan plan;
  const Format* format = nullptr;
  const std::byte* weights = nullptr;
  LinearArgs args;
  int pairs = 0;
};

// The numbers of a vector of f32; null for null.
inline const float* vector_of(const Weight* weight) {
  return weight == nullptr ? nullptr : reinterpret_cast<const float*>(weight->buffer->host() + weight->offset);
}

// Both read the same codes, or both read floats.
bool same_input(const LinearKernel& a, const LinearKernel& b);

LinearJob make_job(const Kernels& kernels, const Projection& p, Tensor x, Mat<float> out,
                   const ActivationGroup* groups);
// The job for tokens [begin, begin + count) alone.
LinearJob at_tokens(LinearJob job, int begin, int count);
// Computes the rows of pairs [begin, end). `own` is the worker's memory, LinearScratch::own_bytes.
void run_job(const LinearJob& job, int begin, int end, std::byte* own);

// A gated feed-forward. Without `gate`, its products are in the output already; without `up`, they only go there.
struct GluJob {
  const LinearJob* gate = nullptr;
  const LinearJob* up = nullptr;
  Mat<float> out;  // [tokens, rows]
  void (*activate)(const float* gate, const float* up, float* out, int count) = nullptr;
};
// Computes the rows of pairs [begin, end). `up` has room for [tokens][kPanelRows].
void run_glu_pairs(const GluJob& job, int begin, int end, std::byte* own, float* up);

// The memory of one call.
struct LinearScratch {
  static std::size_t group_bytes(int tokens, int cols) {
    return sizeof(ActivationGroup) * static_cast<std::size_t>(tokens) *
           static_cast<std::size_t>(activation_stride(cols));
  }
  // A panel, and an expanded pair.
  static std::size_t own_bytes(int cols) {
    return kPanelScratchBytes + packed_pair_bytes(Expanded<2, true>::kInfo, (cols + 31) / 32 * 32);
  }
  static std::size_t worker_bytes(int tokens, int cols) {
    return own_bytes(cols) + sizeof(float) * static_cast<std::size_t>(tokens) * kPanelRows;
  }

  ActivationGroup* groups;  // Of all tokens.
  std::byte* workers;       // Each has its own_bytes, then [tokens][kPanelRows] outputs.
  std::size_t bytes_per_worker, up_at;

  std::byte* own(int worker) const { return workers + static_cast<std::size_t>(worker) * bytes_per_worker; }
  float* up(int worker) const { return reinterpret_cast<float*>(own(worker) + up_at); }
};

}  // namespace plait
