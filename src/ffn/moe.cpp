// Mixture of experts.
#include "ffn/moe.h"

#include <fmt/format.h>

#include "ffn/glu.h"

namespace plait {
namespace {

class Moe final : public Ffn {
 public:
  Moe(const MoeSpec& spec, Scope& scope)
      : spec_(spec), counts_(new std::atomic<std::uint64_t>[static_cast<std::size_t>(spec.experts)]()) {
    router_ = scope.float_projection("ffn_gate_inp", spec.experts, spec.dim);
    take_stacks(scope);
    routing_ = {.gating = spec.gating,
                .experts = spec.experts,
                .used = spec.used,
                .groups = spec.groups,
                .groups_used = spec.groups_used,
                .normalise = spec.normalise,
                .guard = spec.guard,
                .scale = spec.scale};
    if (spec.selection_bias) routing_.bias = scope.numbers("exp_probs_b.bias", TensorKind::kBias, spec.experts);
    if (spec.shared_hidden == 0) return;
    shared_ =
        glu({.dim = spec.dim, .hidden = spec.shared_hidden, .activation = spec.activation, .suffix = "_shexp"}, scope);
    if (spec.shared_gate) shared_gate_ = scope.float_projection("ffn_gate_inp_shexp", 1, spec.dim);
  }

  std::string describe() const override {
    const std::string experts =
        fmt::format("{} of {} experts, {}, {}", spec_.used, spec_.experts, name_of(spec_.activation), spec_.hidden);
    return shared_ == nullptr ? experts : fmt::format("{}; shared {}", experts, shared_->describe());
  }

  int scratch_floats() const override {
    const int rows = spec_.used * (Workspace::padded(spec_.hidden) + Workspace::padded(spec_.dim));
    const int shared =
        shared_ == nullptr ? 0 : Workspace::padded(spec_.dim) + Workspace::padded(1) + shared_->scratch_floats();
    return Workspace::padded(spec_.experts) + shared + rows;
  }

  std::optional<ExpertShape> experts() const override { return ExpertShape{routing_, spec_.hidden}; }

  std::span<const std::atomic<std::uint64_t>> expert_counts() const override {
    return {counts_.get(), static_cast<std::size_t>(spec_.experts)};
  }

  void forward(Step& step, Tensor x, Tensor out) const override {
    ExpertArgs args{.x = x,
                    .logits = step.scratch.take(x.rows, spec_.experts),
                    .routing = routing_,
                    .gate = gate_,
                    .up = up_,
                    .down = down_,
                    .activation = spec_.activation,
                    .hidden = {},
                    .products = {},
                    .shared = {},
                    .shared_gate = {},
                    .out = out,
                    .counts = {counts_.get(), static_cast<std::size_t>(spec_.experts)}};
    Projection logits[] = {router_, shared_gate_};
    logits[0].out = args.logits;
    if (shared_gate_.weight != nullptr) logits[1].out = args.shared_gate = step.scratch.take(x.rows, 1);
    step.backend.linear(x, {logits, shared_gate_.weight != nullptr ? 2u : 1u});
    if (shared_ != nullptr) {
      args.shared = step.scratch.take(x.rows, spec_.dim);
      const std::size_t mark = step.scratch.mark();
      shared_->forward(step, x, args.shared);
      step.scratch.release(mark);
    }
    args.hidden = step.scratch.take(x.rows * spec_.used, spec_.hidden);
    args.products = step.scratch.take(x.rows * spec_.used, spec_.dim);
    step.backend.experts(args);
  }

 private:
  void take_stacks(Scope& scope) {
    StackShape shape{.rows = spec_.hidden, .cols = spec_.dim, .experts = spec_.experts, .used = spec_.used};
    if (scope.has("ffn_gate_up_exps")) {
      shape.file_rows = 2 * spec_.hidden;
      gate_ = scope.stack("ffn_gate_up_exps", shape);
      shape.first_row = spec_.hidden;
      up_ = scope.stack("ffn_gate_up_exps", shape);
    } else {
      gate_ = scope.stack("ffn_gate_exps", shape);
      up_ = scope.stack("ffn_up_exps", shape);
    }
    down_ = scope.stack("ffn_down_exps",
                        {.rows = spec_.dim, .cols = spec_.hidden, .experts = spec_.experts, .used = spec_.used});
  }

  MoeSpec spec_;
  Routing routing_;
  Projection router_, shared_gate_;
  ExpertStack gate_, up_, down_;
  std::unique_ptr<Ffn> shared_;
  std::unique_ptr<std::atomic<std::uint64_t>[]> counts_;  // Written by the thread that computes.
};

}  // namespace

std::unique_ptr<Ffn> moe(const MoeSpec& spec, Scope scope) { return std::make_unique<Moe>(spec, scope); }

}  // namespace plait
