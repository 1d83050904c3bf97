// CpuBackend: mixture of experts. Rows (a token's choices) are sorted by expert; tile pairs of all experts that are in
// use are numbered through and shared out by what they cost, so that one token keeps all workers busy.
#include <algorithm>
#include <cstdint>
#include <functional>

#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/linear_job.h"
#include "backend/cpu/route.h"
#include "backend/cpu/split.h"

namespace plait {
namespace {

// To pass over a pair's weights costs about as much as so many rows, once they are there (linear-kernels.md 8.1).
constexpr int kPassCost = 12;

// Calls body(expert, first pair, last pair) for this worker's share of all pairs.
template <class Body>
void for_each_share(const ExpertRows& rows, int pairs, int worker, int workers, const Body& body) {
  std::int64_t total = 0;
  for (int i = 0; i < rows.active_count(); ++i) total += std::int64_t{pairs} * (kPassCost + rows.count(rows.active(i)));
  const std::int64_t begin = total * worker / workers, end = total * (worker + 1) / workers;
  std::int64_t first = 0;  // Cost of all pairs before.
  for (int i = 0; i < rows.active_count() && first < end; ++i) {
    const int expert = rows.active(i);
    const std::int64_t cost = kPassCost + rows.count(expert);
    // A pair is done by the worker in whose share it begins.
    const auto at = [&](std::int64_t place) {
      return static_cast<int>(std::clamp<std::int64_t>((place - first + cost - 1) / cost, 0, pairs));
    };
    const int from = at(begin), to = at(end);
    if (from < to) body(expert, from, to);
    first += cost * pairs;
  }
}

// The stack's job over one expert's matrix.
LinearJob at_expert(LinearJob job, const ExpertStack& stack, int expert) {
  const std::size_t bytes = stack.weight->bytes / static_cast<std::size_t>(stack.weight->experts);
  job.weights += static_cast<std::size_t>(expert) * bytes;
  if (stack.scale != nullptr) job.args.tensor_scale = vector_of(stack.scale)[expert];
  return job;
}

void check_shapes(const ExpertArgs& args) {
  const Routing& r = args.routing;
  const int rows = args.x.rows * r.used;
  check(args.logits.rows == args.x.rows && args.logits.cols == r.experts, "a router has a logit for each expert");
  check(r.groups > 0 && r.groups <= kMaxExpertGroups && r.experts % r.groups == 0, "groups are of equal size");
  check(r.used > 0 && r.groups_used <= r.groups && r.used <= r.experts / r.groups * r.groups_used,
        "there are as many experts to choose from as are used");
  check(args.gate.weight->experts == r.experts && args.up.weight->experts == r.experts &&
            args.down.weight->experts == r.experts,
        "a stack has a matrix for each expert");
  check(args.hidden.rows == rows && args.products.rows == rows, "there is room for what the experts make");
  check(args.out.rows == args.x.rows && args.products.cols == args.out.cols, "experts make rows of the output");
  check(args.shared.buffer == nullptr || args.shared.cols == args.out.cols, "the shared expert makes such rows too");
}

}  // namespace

std::size_t CpuBackend::reserve_experts_bytes(int tokens, const Routing& routing, int hidden) const {
  return ExpertRows::bytes(tokens, routing) + LinearSizes{activations_}.groups(tokens * routing.used, hidden);
}

Result<void> CpuBackend::reserve_experts(int tokens, const Routing& routing, int hidden) {
  expert_rows_.reserve(tokens, routing);
  const std::size_t bytes = LinearSizes{activations_}.groups(tokens * routing.used, hidden);
  if (expert_groups_ != nullptr && expert_groups_->bytes() >= bytes) return {};
  Result<std::unique_ptr<Buffer>> memory = allocate(bytes);
  if (!memory) return fail(memory.error());
  expert_groups_ = std::move(*memory);
  return {};
}

void CpuBackend::experts(const ExpertArgs& args) {
  check_shapes(args);
  const int tokens = args.x.rows, used = args.routing.used;
  check(expert_rows_.holds(tokens, args.routing), "a step stays within what was reserved");
  const Mat<float> logits = args.logits.host();
  for_each_row(pool_, tokens, 8 * args.routing.experts, [&](int t) {
    route(args.routing, kernels_.floats, logits.row(t), expert_rows_.chosen(t, used), expert_rows_.weights(t, used));
  });
  expert_rows_.sort(tokens, args.routing);
  if (!args.counts.empty()) {
    for (int i = 0; i < expert_rows_.active_count(); ++i) {
      const int expert = expert_rows_.active(i);
      args.counts[static_cast<std::size_t>(expert)].fetch_add(static_cast<std::uint64_t>(expert_rows_.count(expert)),
                                                              std::memory_order_relaxed);
    }
  }

  const LinearScratch scratch = linear_scratch(tokens, args.x.cols);
  const Mat<float> hidden = args.hidden.host();
  const LinearJob gate = make_job(mode(), {.weight = args.gate.weight, .out = {}}, args.x, hidden, scratch.groups);
  const LinearJob up = make_job(mode(), {.weight = args.up.weight, .out = {}}, args.x, hidden, scratch.groups);
  check(gate.pairs == up.pairs, "gate and up have the same shape");
  if (!gate.plan.kernel->is_float) quantize(args.x, *gate.plan.kernel, scratch.groups);
  if (same_input(*gate.plan.kernel, *up.plan.kernel)) {
    run_experts(args, &gate, &up, scratch);
  } else {
    run_experts(args, &gate, nullptr, scratch);
    if (!up.plan.kernel->is_float) quantize(args.x, *up.plan.kernel, scratch.groups);
    run_experts(args, nullptr, &up, scratch);
  }

  auto* const groups = reinterpret_cast<ActivationGroup*>(expert_groups_->host());
  check(LinearSizes{activations_}.groups(args.hidden.rows, args.hidden.cols) <= expert_groups_->bytes(),
        "a step stays within what was reserved");
  const LinearJob down =
      make_job(mode(), {.weight = args.down.weight, .out = {}}, args.hidden, args.products.host(), groups);
  if (!down.plan.kernel->is_float) quantize(args.hidden, *down.plan.kernel, groups);
  run_downs(args, down, scratch);
  combine_experts(args);
}

void CpuBackend::run_experts(const ExpertArgs& args, const LinearJob* gate, const LinearJob* up,
                             const LinearScratch& scratch) {
  const Mat<float> hidden = args.hidden.host();
  const auto activate = kernels_.floats.glu[static_cast<int>(args.activation)];
  const auto body = [&](int worker, int workers) {
    const auto share = [&](int expert, int from, int to) {
      const int begin = expert_rows_.begin(expert), count = expert_rows_.count(expert);
      const auto of_expert = [&](const LinearJob& job, const ExpertStack& stack) {
        LinearJob part = at_expert(job, stack, expert);
        part.args.tokens = count;
        part.args.token_rows = expert_rows_.tokens(expert);
        part.args.out += std::ptrdiff_t{begin} * part.args.out_stride;
        return part;
      };
      LinearJob own_gate, own_up;
      if (gate != nullptr) own_gate = of_expert(*gate, args.gate);
      if (up != nullptr) own_up = of_expert(*up, args.up);
      run_glu_pairs({.gate = gate != nullptr ? &own_gate : nullptr,
                     .up = up != nullptr ? &own_up : nullptr,
                     .out = {hidden.row(begin), count, hidden.cols, hidden.stride},
                     .activate = activate},
                    from, to, scratch.own(worker), scratch.up(worker));
    };
    for_each_share(expert_rows_, (gate != nullptr ? gate : up)->pairs, worker, workers, share);
  };
  pool_.run(std::ref(body));  // By reference: a copy would be allocated.
}

void CpuBackend::run_downs(const ExpertArgs& args, const LinearJob& down, const LinearScratch& scratch) {
  const auto body = [&](int worker, int workers) {
    const auto share = [&](int expert, int from, int to) {
      const LinearJob part =
          at_tokens(at_expert(down, args.down, expert), expert_rows_.begin(expert), expert_rows_.count(expert));
      run_job(part, from, to, scratch.own(worker));
    };
    for_each_share(expert_rows_, down.pairs, worker, workers, share);
  };
  pool_.run(std::ref(body));
}

void CpuBackend::combine_experts(const ExpertArgs& args) {
  const int used = args.routing.used;
  const Mat<float> products = args.products.host(), out = args.out.host();
  for_each_row(pool_, out.rows, out.cols * used, [&](int t) {
    CombineArgs combine{.rows = products.data,
                        .stride = products.stride,
                        .chosen = expert_rows_.places(t, used),
                        .weights = expert_rows_.weights(t, used),
                        .count = used,
                        .out = out.row(t),
                        .width = out.cols};
    if (args.shared.buffer != nullptr) combine.last = args.shared.host().row(t);
    if (args.shared_gate.buffer != nullptr)
      kernels_.floats.sigmoid(args.shared_gate.host().row(t), &combine.last_weight, 1);
    kernels_.floats.combine(combine);
  });
}

}  // namespace plait
