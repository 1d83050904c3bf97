// LinearJob: how a product is cut up and run.
#include "backend/cpu/linear_job.h"

#include <algorithm>

namespace plait {
namespace {

// Tokens that a gated feed-forward takes before it goes on to the next tile pair.
constexpr int kGluTokens = 96;

LinearPlan plan_for(const Kernels& kernels, const Format& format) {
  if (const LinearKernel* kernel = kernels.find_linear(format.info.gguf_type)) return {kernel, false};
  const auto parts = static_cast<std::size_t>(format.info.scales_per_group - 1);
  return {&kernels.expanded[parts][format.info.has_mins ? 1 : 0], true};
}

}  // namespace

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

void run_glu_pairs(const GluJob& job, int begin, int end, std::byte* expanded, float* own) {
  const LinearJob& any = job.gate != nullptr ? *job.gate : *job.up;
  const bool expands = (job.gate != nullptr && job.gate->plan.expand) || (job.up != nullptr && job.up->plan.expand);
  const int all = any.args.tokens, block = expands ? all : kGluTokens;  // A pair is expanded once.
  for (int token = 0; token < all; token += block) {
    const int tokens = std::min(block, all - token);
    for (int pair = begin; pair < end; ++pair) {
      const int row = pair * kPairRows, rows = std::min(kPairRows, job.out.cols - row);
      if (job.gate != nullptr) run_job(at_tokens(*job.gate, token, tokens), pair, pair + 1, expanded);
      if (job.up == nullptr) continue;
      LinearJob part = at_tokens(*job.up, token, tokens);
      part.args.out = own - row;
      part.args.out_stride = kPairRows;
      run_job(part, pair, pair + 1, expanded);
      for (int t = 0; t < tokens; ++t) {
        float* y = job.out.row(token + t) + row;
        job.activate(y, own + t * kPairRows, y, rows);
      }
    }
  }
}

}  // namespace plait
