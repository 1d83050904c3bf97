// LinearJob: how a product is cut up and run.
#include "backend/cpu/linear_job.h"

#include <fmt/format.h>

#include <algorithm>

#include "backend/cpu/cpu_backend.h"

namespace plait {
namespace {

// Tokens that a gated feed-forward takes before it goes on to the next tile pairs.
constexpr int kGluTokens = 96;

LinearPlan plan_for(const LinearMode& mode, const Format& format) {
  const LinearKernel* packed = mode.kernels.find_linear(format.info.gguf_type);
  if (format.info.is_float) return {packed, packed, Widening::kNone};
  if (mode.activations == 32) return {mode.kernels.find_linear(F32::kInfo.gguf_type), packed, Widening::kFloats};
  if (packed != nullptr) return {packed, packed, Widening::kNone};
  const auto parts = static_cast<std::size_t>(format.info.scales_per_group - 1);
  return {&mode.kernels.expanded[parts][format.info.has_mins ? 1 : 0], nullptr, Widening::kCodes};
}

void widen_pair(const LinearJob& job, int pair, std::byte* widened) {
  const FormatInfo& info = job.format->info;
  if (job.plan.packed != nullptr) {
    const std::byte* from = job.weights + static_cast<std::size_t>(pair) * packed_pair_bytes(info, job.args.cols);
    job.plan.packed->decode_pair(from, job.args.cols, reinterpret_cast<float*>(widened));
    return;
  }
  const std::size_t row_bytes = file_row_bytes(info, job.args.cols);
  const int first = pair * kPairRows;
  const PackSource source{.rows = job.weights + static_cast<std::size_t>(first) * row_bytes,
                          .row_bytes = row_bytes,
                          .count = std::min(kPairRows, job.args.rows - first),
                          .cols = job.args.cols};
  if (job.plan.widening == Widening::kFloats) {
    decode_pair(*job.format, source, reinterpret_cast<float*>(widened));
  } else {
    expand_pair(*job.format, source, widened);
  }
}

// Whether all tokens run over a part of the weights before the next: it is made for them, a panel or a widened pair.
bool takes_all_tokens(const LinearJob& job) {
  return job.plan.widening != Widening::kNone || job.args.tokens >= job.plan.panel_from(job.planes);
}

}  // namespace

std::string CpuBackend::kernel_for(const Format& format) const {
  if (kernels_.find_linear(format.info.gguf_type) == nullptr && format.group == nullptr) return "never multiplied";
  const LinearPlan plan = plan_for(mode(), format);
  if (plan.widening == Widening::kFloats) return "decoded to f32";
  const std::string name = plan.widening == Widening::kCodes ? "expanded" : "direct";
  const int panel_from = plan.panel_from(LinearSizes{activations_}.planes());
  return panel_from == kNoPanel ? name : fmt::format("{}, panels from {} tokens", name, panel_from);
}

bool same_input(const LinearKernel& a, const LinearKernel& b) {
  return a.is_float == b.is_float && (a.is_float || (a.zero == b.zero && a.parts == b.parts));
}

LinearJob make_job(const LinearMode& mode, const Projection& p, Tensor x, Mat<float> out,
                   const ActivationGroup* groups) {
  const Weight& w = *p.weight;
  check(w.cols == x.cols && out.cols == w.rows && out.rows >= x.rows, "a projection's shapes agree");
  LinearJob job{.plan = plan_for(mode, *w.format),
                .format = w.format,
                .weights = w.buffer->host() + w.offset,
                .args = {},
                .pairs = weight_pairs(w.rows),
                .planes = LinearSizes{mode.activations}.planes()};
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

void run_job(const LinearJob& job, int begin, int end, std::byte* own) {
  const LinearKernel& kernel = *job.plan.kernel;
  const auto run = job.planes == 1 || kernel.is_float ? kernel.run : kernel.run_fine;
  LinearArgs args = job.args;
  args.panel = own;
  if (job.plan.widening == Widening::kNone) {
    args.weights = job.weights + static_cast<std::size_t>(begin) * packed_pair_bytes(job.format->info, args.cols);
    args.pair_begin = begin;
    args.pair_end = end;
    run(args);
    return;
  }
  std::byte* const widened = own + kPanelScratchBytes;
  for (int pair = begin; pair < end; ++pair) {
    widen_pair(job, pair, widened);
    args.weights = widened;
    args.pair_begin = pair;
    args.pair_end = pair + 1;
    run(args);
  }
}

LinearJob at_tokens(LinearJob job, int begin, int count) {
  job.args.tokens = count;
  job.args.out += begin * job.args.out_stride;
  if (job.args.token_rows != nullptr) {
    job.args.token_rows += begin;
    return job;
  }
  if (job.args.groups != nullptr)
    job.args.groups += static_cast<std::ptrdiff_t>(begin) * activation_stride(job.args.cols, job.planes);
  job.args.x += begin * job.args.x_stride;
  return job;
}

void run_glu_pairs(const GluJob& job, int begin, int end, std::byte* own, float* up) {
  const LinearJob& any = job.gate != nullptr ? *job.gate : *job.up;
  const int all = any.args.tokens;
  const bool once =
      (job.gate != nullptr && takes_all_tokens(*job.gate)) || (job.up != nullptr && takes_all_tokens(*job.up));
  const int block = once ? all : kGluTokens, step = once ? kPanelRows / kPairRows : 1;
  for (int token = 0; token < all; token += block) {
    const int tokens = std::min(block, all - token);
    for (int pair = begin; pair < end; pair += step) {
      const int next = std::min(pair + step, end);
      const int row = pair * kPairRows, rows = std::min(next * kPairRows, job.out.cols) - row;
      if (job.gate != nullptr) run_job(at_tokens(*job.gate, token, tokens), pair, next, own);
      if (job.up == nullptr) continue;
      LinearJob part = at_tokens(*job.up, token, tokens);
      part.args.out = up - row;
      part.args.out_stride = kPanelRows;
      run_job(part, pair, next, own);
      for (int t = 0; t < tokens; ++t) {
        float* y = job.out.row(token + t) + row;
        job.activate(y, up + t * kPanelRows, y, rows);
      }
    }
  }
}

}  // namespace plait
