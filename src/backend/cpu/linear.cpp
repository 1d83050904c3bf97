// CpuBackend: projections of one input, and the gated feed-forward. Tile pairs of all matrices of a call are numbered
// through, and share i of n has pairs [N i / n, N (i + 1) / n): one contiguous stream each. With several memory
// nodes each matrix is cut by itself, as it was when it was packed.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>

#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/linear_job.h"
#include "base/float_mode.h"

namespace plait {
namespace {

// Inputs with fewer values than this are quantized by the caller, without waking the workers for it.
constexpr int kSerialValues = 16 * 1024;

// A matrix of one f32 row lies as a vector: the chain of linear-kernels.md 1, plainly.
float dot_vector(const float* w, const float* x, int count) {
  float y = 0;
  for (int begin = 0; begin < count; begin += 256) {
    float a = 0;
    for (int k = begin; k < std::min(begin + 256, count); ++k) a = std::fma(w[k], x[k], a);
    y += a;
  }
  return y;
}

void linear_vector(Tensor x, const Projection& p) {
  const FloatMode mode;
  for (int t = 0; t < x.rows; ++t) {
    float y = dot_vector(vector_of(p.weight), x.host().row(t), x.cols);
    if (p.tensor_scale != 1.0f) y *= p.tensor_scale;
    if (p.bias != nullptr) y += *vector_of(p.bias);
    p.out.host().row(t)[0] = y;
  }
}

// How many shares a worker has of a product's pairs: several, so that who is held up has little begun; but none of a
// few microseconds. Panels are for many tokens: their shares are long anyway, and smaller ones would cut panels up.
int shares_each(const LinearJob& job, int pairs, int workers) {
  constexpr int kLeastPairs = 4;
  if (job.args.tokens >= job.plan.panel_from(job.planes)) return 1;
  return std::clamp(pairs / workers / kLeastPairs, 1, ThreadPool::kMostEach);
}

}  // namespace

LinearMode CpuBackend::mode() const { return {kernels_, activations_}; }

std::size_t CpuBackend::reserve_bytes(int tokens, int cols) const {
  const LinearSizes sizes{activations_};
  return sizes.groups(tokens, cols) + static_cast<std::size_t>(threads()) * sizes.worker(tokens, cols);
}

LinearScratch CpuBackend::linear_scratch(int tokens, int cols) const {
  check(tokens <= reserved_tokens_ && cols <= reserved_cols_, "a step stays within what was reserved");
  const LinearSizes sizes{activations_};
  std::byte* begin = linear_scratch_->host();
  return {reinterpret_cast<ActivationGroup*>(begin), begin + sizes.groups(reserved_tokens_, reserved_cols_),
          sizes.worker(reserved_tokens_, reserved_cols_), sizes.own(reserved_cols_)};
}

void CpuBackend::quantize(Tensor x, const LinearKernel& kernel, ActivationGroup* out) {
  QuantizeArgs args{.x = x.host().data,
                    .x_stride = x.stride,
                    .cols = x.cols,
                    .token_begin = 0,
                    .token_end = x.rows,
                    .zero = kernel.zero,
                    .parts = kernel.parts,
                    .out = out};
  const auto run = activations_ == 16 ? kernels_.quantize_fine : kernels_.quantize;
  if (x.rows == 1 || std::int64_t{x.rows} * x.cols <= kSerialValues) {
    const FloatMode mode;
    run(args);
    return;
  }
  const auto body = [&](int begin, int end, int) {
    QuantizeArgs part = args;
    part.token_begin = begin;
    part.token_end = end;
    run(part);
  };
  pool_.parallel_for(x.rows, std::ref(body));  // By reference: a copy would be allocated.
}

void CpuBackend::linear(Tensor x, std::span<const Projection> projections) {
  constexpr std::size_t kMaxProjections = 16;
  check(projections.size() <= kMaxProjections, "a call has few projections");
  const LinearScratch scratch = linear_scratch(x.rows, x.cols);
  LinearJob jobs[kMaxProjections];
  int count = 0;
  for (const Projection& p : projections) {
    if (is_plain_vector(*p.weight->format, p.weight->rows)) {
      linear_vector(x, p);
    } else {
      jobs[count++] = make_job(mode(), p, x, p.out.host(), scratch.groups);
    }
  }
  // Those that read the same codes run together; usually that is all of them.
  bool done[kMaxProjections] = {};
  for (int i = 0; i < count; ++i) {
    if (done[i]) continue;
    const LinearKernel& kernel = *jobs[i].plan.kernel;
    LinearJob together[kMaxProjections];
    std::size_t size = 0;
    for (int j = i; j < count; ++j) {
      if (done[j] || !same_input(*jobs[j].plan.kernel, kernel)) continue;
      together[size++] = jobs[j];
      done[j] = true;
    }
    if (!kernel.is_float) quantize(x, kernel, scratch.groups);
    run_jobs({together, size}, scratch);
  }
}

void CpuBackend::run_jobs(std::span<const LinearJob> jobs, const LinearScratch& scratch) {
  int pairs = 0;
  for (const LinearJob& job : jobs) pairs += job.pairs;
  const auto body = [&](int share, int shares, int worker) {
    const PieceRange all = share_of(pairs, share, shares);
    int first = 0;  // The number of the job's first pair.
    for (const LinearJob& job : jobs) {
      PieceRange own{std::max(all.begin - first, 0), std::min(all.end - first, job.pairs)};
      if (by_node()) own = share_of(job.pairs, share, shares);  // What load() laid on the worker's node.
      if (own.begin < own.end) run_job(job, own.begin, own.end, scratch.own(worker));
      first += job.pairs;
    }
  };
  pool_.run_shares(shares_each(jobs.front(), pairs, threads()), std::ref(body));
}

void CpuBackend::glu(const GluArgs& args) {
  const LinearScratch scratch = linear_scratch(args.x.rows, args.x.cols);
  const Mat<float> out = args.out.host();
  const Mat<float> own{scratch.up(0), args.x.rows, out.cols, kPanelRows};  // Each worker's own.
  const LinearJob gate = make_job(mode(), args.gate, args.x, out, scratch.groups);
  const LinearJob up = make_job(mode(), args.up, args.x, own, scratch.groups);
  check(gate.pairs == up.pairs, "gate and up have the same shape");
  if (!gate.plan.kernel->is_float) quantize(args.x, *gate.plan.kernel, scratch.groups);
  if (same_input(*gate.plan.kernel, *up.plan.kernel)) {
    run_glu(args, &gate, &up, scratch);
    return;
  }
  run_glu(args, &gate, nullptr, scratch);
  if (!up.plan.kernel->is_float) quantize(args.x, *up.plan.kernel, scratch.groups);
  run_glu(args, nullptr, &up, scratch);
}

// Pair i of gate and of up go to one worker, which applies the activation when it has both.
void CpuBackend::run_glu(const GluArgs& args, const LinearJob* gate, const LinearJob* up,
                         const LinearScratch& scratch) {
  const GluJob job{.gate = gate,
                   .up = up,
                   .out = args.out.host(),
                   .activate = kernels_.floats.glu[static_cast<int>(args.activation)]};
  const auto body = [&](int begin, int end, int worker) {
    run_glu_pairs(job, begin, end, scratch.own(worker), scratch.up(worker));
  };
  const LinearJob& any = gate != nullptr ? *gate : *up;
  pool_.parallel_for(any.pairs, std::ref(body), ThreadPool::Sharing::kAny, shares_each(any, any.pairs, threads()));
}

}  // namespace plait
