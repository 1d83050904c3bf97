// LinearJob: how a product is cut up and run.
#include "backend/cpu/linear_job.h"

#include <fmt/format.h>

#include <algorithm>

#include "backend/cpu/cpu_backend.h"

namespace plait {
namespace {

// Tokens that a gated feed-forward takes before it goes on to the next tile pairs.
constexpr int kGluTokens = 96;

LinearPlan plan_for(const Kernels& kernels, const Format& format) {
  if (const LinearKernel* kernel = kernels.find_linear(format.info.gguf_type)) return {kernel, false};
  const auto parts = static_cast<std::size_t>(format.info.scales_per_group - 1);
  return {&kernels.expanded[parts][format.info.has_mins ? 1 : 0], true};
}

}  // namespace

std::string CpuBackend::kernel_for(const Format& format) const {
  if (kernels_.find_linear(format.info.gguf_type) == nullptr && format.group == nullptr) return "never multiplied";
  const LinearPlan plan = plan_for(kernels_, format);
  const std::string name = plan.expand ? "expanded" : "direct";
  if (plan.kernel->panel_from == kNoPanel) return name;
  return fmt::format("{}, panels from {} tokens", name, plan.kernel->panel_from);
}

bool same_input(const LinearKernel& a, const LinearKernel& b) {
  return a.is_float == b.is_float && (a.is_float || (a.zero == b.zero && a.parts == b.parts));
}

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

void run_job(const LinearJob& job, int begin, int end, std::byte* own) {
  LinearArgs args = job.args;
  args.panel = own;
  if (!job.plan.expand) {
    args.weights = job.weights + static_cast<std::size_t>(begin) * packed_pair_bytes(job.format->info, args.cols);
    args.pair_begin = begin;
    args.pair_end = end;
    job.plan.kernel->run(args);
    return;
  }
  std::byte* const expanded = own + kPanelScratchBytes;
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

LinearJob at_tokens(LinearJob job, int begin, int count) {
  job.args.tokens = count;
  job.args.out += begin * job.args.out_stride;
  if (job.args.token_rows != nullptr) {
    job.args.token_rows += begin;
    return job;
  }
  if (job.args.groups != nullptr)
    job.args.groups += static_cast<std::ptrdiff_t>(begin) * activation_stride(job.args.cols);
  job.args.x += begin * job.args.x_stride;
  return job;
}

void run_glu_pairs(const GluJob& job, int begin, int end, std::byte* own, float* up) {
  const LinearJob& any = job.gate != nullptr ? *job.gate : *job.up;
  const int all = any.args.tokens;
  bool once = false;  // What is expanded is expanded once.
  for (const LinearJob* part : {job.gate, job.up}) {
    if (part != nullptr) once = once || part->plan.expand || all >= part->plan.kernel->panel_from;
  }
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
