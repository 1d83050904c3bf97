// LinearJob: one product of a CPU backend, in a form whose pairs and tokens can be cut up; LinearScratch: its memory.
#pragma once

#include <cstddef>

#include "backend/cpu/packing.h"
#include "backend/ops.h"
#include "formats/f32.h"
#include "kernels/kernels.h"
#include "kernels/tile.h"

namespace plait {

// What products are computed with: an instruction set, and the bits of the activations that meet quantized weights.
struct LinearMode {
  const Kernels& kernels;
  int activations = 8;  // 8; 16: two planes of codes; 32: floats.
};

// What becomes of a pair of weights before the kernel reads it.
enum class Widening {
  kNone,    // It lies as the format's own kernel reads it.
  kCodes,   // Expanded to codes of eight bits: the format has no packed layout.
  kFloats,  // Decoded to f32, for activations of 32 bits.
};

// How a format's products are computed.
struct LinearPlan {
  const LinearKernel* kernel = nullptr;  // That computes: the format's own, an expanded one, or that of f32.
  const LinearKernel* packed = nullptr;  // The format's own; null: its weights lie as in the file.
  Widening widening = Widening::kNone;

  // From how many tokens on, with activations of so many planes.
  int panel_from(int planes) const { return planes == 1 ? kernel->panel_from : kernel->fine_panel_from; }
};

// What one product reads and writes, apart from where its pairs begin and end.
struct LinearJob {
  LinearPlan plan;
  const Format* format = nullptr;
  const std::byte* weights = nullptr;
  LinearArgs args;
  int pairs = 0;
  int planes = 1;  // Of codes of an activation.
};

// The numbers of a vector of f32; null for null.
inline const float* vector_of(const Weight* weight) {
  return weight == nullptr ? nullptr : reinterpret_cast<const float*>(weight->buffer->host() + weight->offset);
}

// Both read the same codes, or both read floats.
bool same_input(const LinearKernel& a, const LinearKernel& b);

LinearJob make_job(const LinearMode& mode, const Projection& p, Tensor x, Mat<float> out,
                   const ActivationGroup* groups);
// The job for tokens [begin, begin + count) alone.
LinearJob at_tokens(LinearJob job, int begin, int count);
// Computes the rows of pairs [begin, end). `own` is the worker's memory, LinearSizes::own.
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

// The bytes of a call's memory, for activations of so many bits.
struct LinearSizes {
  int activations = 8;

  int planes() const { return activations == 16 ? kFinePlanes : 1; }
  std::size_t groups(int tokens, int cols) const {  // All tokens' codes.
    if (activations == 32) return 0;
    return sizeof(ActivationGroup) * static_cast<std::size_t>(tokens) *
           static_cast<std::size_t>(activation_stride(cols, planes()));
  }
  std::size_t own(int cols) const {  // A worker's panel, and a widened pair.
    const FormatInfo& widest = activations == 32 ? F32::kInfo : Expanded<2, true>::kInfo;
    return kPanelScratchBytes + packed_pair_bytes(widest, (cols + 31) / 32 * 32);
  }
  std::size_t worker(int tokens, int cols) const {
    return own(cols) + sizeof(float) * static_cast<std::size_t>(tokens) * kPanelRows;
  }
};

// The memory of one call.
struct LinearScratch {
  ActivationGroup* groups;  // Of all tokens.
  std::byte* workers;       // Each has its own, then [tokens][kPanelRows] outputs.
  std::size_t bytes_per_worker, up_at;

  std::byte* own(int worker) const { return workers + static_cast<std::size_t>(worker) * bytes_per_worker; }
  float* up(int worker) const { return reinterpret_cast<float*>(own(worker) + up_at); }
};

}  // namespace plait
