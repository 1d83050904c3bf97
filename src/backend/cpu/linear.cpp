// CpuBackend: projections of one input, and the gated feed-forward. Tile pairs of all matrices of a call are numbered
// through, and worker i of n takes pairs [N i / n, N (i + 1) / n): one contiguous stream each.
#include <algorithm>
#include <cmath>
#include <functional>

#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/packing.h"
#include "base/float_mode.h"
#include "kernels/tile.h"

namespace plait {
namespace {

// Inputs with fewer values than this are quantized by the caller, without waking the workers for it.
constexpr int kSerialValues = 16 * 1024;
// Tokens that a gated feed-forward takes before it goes on to the next tile pair.
constexpr int kGluTokens = 96;

// A kernel for each projection: the format's own, or the expanded one with the format to expand from.
struct Plan {
  const LinearKernel* kernel = nullptr;
  bool expand = false;
};

Plan plan_for(const Kernels& kernels, const Format& format) {
  if (const LinearKernel* kernel = kernels.find_linear(format.info.gguf_type)) return {kernel, false};
  const auto parts = static_cast<std::size_t>(format.info.scales_per_group - 1);
  return {&kernels.expanded[parts][format.info.has_mins ? 1 : 0], true};
}

bool same_input(const LinearKernel& a, const LinearKernel& b) {
  return a.is_float == b.is_float && (a.is_float || (a.zero == b.zero && a.parts == b.parts));
}

const float* vector_of(const Weight* weight) {
  return weight == nullptr ? nullptr : reinterpret_cast<const float*>(weight->buffer->host() + weight->offset);
}

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

}  // namespace

// What one product reads and writes, apart from where its pairs begin and end.
struct LinearJob {
  Plan plan;
  const Format* format = nullptr;
  const std::byte* weights = nullptr;
  LinearArgs args;
  int pairs = 0;
};

namespace {

LinearJob make_job(const Kernels& kernels, const Projection& p, Tensor x, Mat<float> out,
                   const ActivationGroup* groups) {
  const Weight& w = *p.weight;
  check(w.cols == x.cols && out.cols == w.rows && out.rows >= x.rows, "a projection's shapes agree");
  LinearJob job{.plan = plan_for(kernels, *w.format),
                .format = w.format,
                .weights = w.buffer->host() + w.offset,
                .args = {},
                .pairs = weight_pairs(w.rows)};
  job.args.rows = w.rows;
  job.args.cols = w.cols;
  job.args.tokens = x.rows;
  job.args.groups = groups;
  job.args.x = x.host().data;
  job.args.x_stride = x.stride;
  job.args.tensor_scale = p.tensor_scale;
  job.args.bias = vector_of(p.bias);
  job.args.out = out.data;
  job.args.out_stride = out.stride;
  return job;
}

// Computes the rows of pairs [begin, end).
void run_job(const LinearJob& job, int begin, int end, std::byte* expanded) {
  LinearArgs args = job.args;
  if (!job.plan.expand) {
    args.weights = job.weights + static_cast<std::size_t>(begin) * packed_pair_bytes(job.format->info, args.cols);
    args.pair_begin = begin;
    args.pair_end = end;
    job.plan.kernel->run(args);
    return;
  }
  const std::size_t row_bytes = file_row_bytes(job.format->info, args.cols);
  for (int pair = begin; pair < end; ++pair) {
    const int first = pair * kPairRows;
    expand_pair(*job.format,
                {.rows = job.weights + static_cast<std::size_t>(first) * row_bytes,
                 .row_bytes = row_bytes,
                 .count = std::min(kPairRows, args.rows - first),
                 .cols = args.cols},
                expanded);
    args.weights = expanded;
    args.pair_begin = pair;
    args.pair_end = pair + 1;
    job.plan.kernel->run(args);
  }
}

// The job for tokens [begin, begin + count) alone.
LinearJob at_tokens(LinearJob job, int begin, int count) {
  job.args.tokens = count;
  if (job.args.groups != nullptr)
    job.args.groups += static_cast<std::ptrdiff_t>(begin) * activation_stride(job.args.cols);
  job.args.x += begin * job.args.x_stride;
  job.args.out += begin * job.args.out_stride;
  return job;
}

}  // namespace

// The memory of one call, cut out of linear_scratch_.
struct LinearScratch {
  static std::size_t group_bytes(int tokens, int cols) {
    return sizeof(ActivationGroup) * static_cast<std::size_t>(tokens) *
           static_cast<std::size_t>(activation_stride(cols));
  }
  static std::size_t expanded_bytes(int cols) {
    return packed_pair_bytes(Expanded<2, true>::kInfo, (cols + 31) / 32 * 32);
  }
  static std::size_t worker_bytes(int tokens, int cols) {
    return expanded_bytes(cols) + sizeof(float) * static_cast<std::size_t>(tokens) * kPairRows;
  }

  ActivationGroup* groups;  // Of all tokens.
  std::byte* workers;       // Each has an expanded pair, then [tokens][32] outputs.
  std::size_t bytes_per_worker, up_at;

  std::byte* expanded(int worker) const { return workers + static_cast<std::size_t>(worker) * bytes_per_worker; }
  float* up(int worker) const { return reinterpret_cast<float*>(expanded(worker) + up_at); }
};

std::size_t CpuBackend::linear_scratch_bytes(int tokens, int cols) const {
  return LinearScratch::group_bytes(tokens, cols) +
         static_cast<std::size_t>(threads()) * LinearScratch::worker_bytes(tokens, cols);
}

LinearScratch CpuBackend::linear_scratch(int tokens, int cols) const {
  check(tokens <= reserved_tokens_ && cols <= reserved_cols_, "a step stays within what was reserved");
  std::byte* begin = linear_scratch_->host();
  return {reinterpret_cast<ActivationGroup*>(begin),
          begin + LinearScratch::group_bytes(reserved_tokens_, reserved_cols_),
          LinearScratch::worker_bytes(reserved_tokens_, reserved_cols_), LinearScratch::expanded_bytes(reserved_cols_)};
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
  if (x.rows == 1 || x.rows * x.cols <= kSerialValues) {
    const FloatMode mode;
    kernels_.quantize(args);
    return;
  }
  const auto body = [&](int begin, int end, int) {
    QuantizeArgs part = args;
    part.token_begin = begin;
    part.token_end = end;
    kernels_.quantize(part);
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
      jobs[count++] = make_job(kernels_, p, x, p.out.host(), scratch.groups);
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
  const auto body = [&](int begin, int end, int worker) {
    int first = 0;  // The number of the job's first pair.
    for (const LinearJob& job : jobs) {
      const int from = std::max(begin - first, 0), to = std::min(end - first, job.pairs);
      if (from < to) run_job(job, from, to, scratch.expanded(worker));
      first += job.pairs;
    }
  };
  pool_.parallel_for(pairs, std::ref(body));
}

void CpuBackend::glu(const GluArgs& args) {
  const LinearScratch scratch = linear_scratch(args.x.rows, args.x.cols);
  const Mat<float> out = args.out.host();
  const Mat<float> own{scratch.up(0), args.x.rows, out.cols, kPairRows};  // Each worker's own.
  const LinearJob gate = make_job(kernels_, args.gate, args.x, out, scratch.groups);
  const LinearJob up = make_job(kernels_, args.up, args.x, own, scratch.groups);
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

// Pair i of gate and of up go to one worker, which applies the activation when it has both. Without `gate`, its
// products are in the output already; without `up`, they only go there.
void CpuBackend::run_glu(const GluArgs& args, const LinearJob* gate, const LinearJob* up,
                         const LinearScratch& scratch) {
  const Mat<float> out = args.out.host();
  const auto activate = kernels_.floats.glu[static_cast<int>(args.activation)];
  const LinearJob& any = gate != nullptr ? *gate : *up;
  const bool expands = (gate != nullptr && gate->plan.expand) || (up != nullptr && up->plan.expand);
  const int block = expands ? args.x.rows : kGluTokens;  // A pair is expanded once.
  const auto body = [&](int begin, int end, int worker) {
    for (int token = 0; token < args.x.rows; token += block) {
      const int tokens = std::min(block, args.x.rows - token);
      for (int pair = begin; pair < end; ++pair) {
        const int row = pair * kPairRows, rows = std::min(kPairRows, out.cols - row);
        if (gate != nullptr) run_job(at_tokens(*gate, token, tokens), pair, pair + 1, scratch.expanded(worker));
        if (up == nullptr) continue;
        LinearJob part = at_tokens(*up, token, tokens);
        part.args.out = scratch.up(worker) - row;
        run_job(part, pair, pair + 1, scratch.expanded(worker));
        for (int t = 0; t < tokens; ++t) {
          float* y = out.row(token + t) + row;
          activate(y, scratch.up(worker) + t * kPairRows, y, rows);
        }
      }
    }
  };
  pool_.parallel_for(any.pairs, std::ref(body));
}

}  // namespace plait
