// Gated delta rule: projections, convolution, norms of queries and keys, the backend's recur, gated norm.
#include "mixers/gated_delta.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

namespace plait {
namespace {

constexpr int kRows = 0, kInputs = 1;  // Row streams: of the recurrence; raw inputs of the convolution.

class GatedDelta final : public Mixer {
 public:
  GatedDelta(const GatedDeltaSpec& spec, Scope& scope) : spec_(spec) {
    const int ratio = spec.value_heads / spec.key_heads, heads = spec.value_heads;
    if (scope.has("ssm_in")) {
      const std::vector<int> parts{spec.key_dim, spec.key_dim, ratio * spec.value_dim, ratio * spec.value_dim};
      inputs_ = {scope.projection("ssm_in", mixed_width() + value_width(), spec.dim, Presence::kOptional, parts)};
    } else {
      inputs_ = {scope.projection("attn_qkv", mixed_width(), spec.dim),
                 scope.projection("attn_gate", value_width(), spec.dim)};
    }
    if (scope.has("ssm_ba") || !spec.tiled) {
      inputs_.push_back(scope.float_projection("ssm_ba", 2 * heads, spec.dim, {ratio, ratio}));
    } else {
      inputs_.push_back(scope.float_projection("ssm_beta", heads, spec.dim));
      inputs_.push_back(scope.float_projection("ssm_alpha", heads, spec.dim));
    }
    taps_ = scope.taps("ssm_conv1d", mixed_width(), spec.taps);
    a_ = scope.numbers("ssm_a", TensorKind::kDecay, heads);
    dt_ = scope.numbers("ssm_dt.bias", TensorKind::kStep, heads);
    norm_ = scope.vector("ssm_norm", spec.value_dim);
    output_ = scope.projection("ssm_out", spec.dim, value_width());
  }

  std::string describe() const override {
    return fmt::format("gated delta rule, {} / {} heads of {}", spec_.value_heads, spec_.key_heads, spec_.value_dim);
  }

  StateSpec state() const override {
    StateSpec state;
    state.rows[kRows] = {recur_row_bytes(shape()), kSinceAnchor, false};
    state.rows[kInputs] = {mixed_width() * static_cast<int>(sizeof(float)), kSinceAnchor, false};
    state.anchor_bytes = static_cast<int>(recur_state_bytes(shape())) + (spec_.taps - 1) * state.rows[kInputs].bytes;
    return state;
  }

  int scratch_floats() const override {
    return Workspace::padded(input_width()) + Workspace::padded(mixed_width()) + Workspace::padded(value_width());
  }

  void forward(Step& step, Tensor x, Tensor out, const LayerState& state) const override {
    const Tensor inputs = step.scratch.take(x.rows, input_width());
    project(step, x, inputs_, inputs);
    const Tensor gate = inputs.slice_cols(mixed_width(), value_width());
    const Tensor beta = inputs.slice_cols(mixed_width() + value_width(), spec_.value_heads);
    const Tensor alpha = inputs.slice_cols(mixed_width() + value_width() + spec_.value_heads, spec_.value_heads);

    const Tensor mixed = step.scratch.take(x.rows, mixed_width());
    step.backend.conv({.x = inputs.slice_cols(0, mixed_width()),
                       .taps = taps_,
                       .tap_count = spec_.taps,
                       .silu = true,
                       .out = mixed,
                       .batch = &step.batch,
                       .state = &state,
                       .stream = kInputs,
                       .anchored = true,
                       .anchor_at = recur_state_bytes(shape())});
    RecurArgs args = shape();
    args.q = mixed.slice_cols(0, key_width());
    args.k = mixed.slice_cols(key_width(), key_width());
    args.v = mixed.slice_cols(2 * key_width(), value_width());
    args.decay = alpha;
    args.beta = beta;
    args.out = step.scratch.take(x.rows, value_width());
    args.batch = &step.batch;
    args.state = &state;
    const auto scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(spec_.key_dim)));
    step.backend.l2_norm({.x = args.q, .width = spec_.key_dim, .scale = scale});
    step.backend.l2_norm({.x = args.k, .width = spec_.key_dim});
    step.backend.sigmoid(beta);
    step.backend.decay({.alpha = alpha, .a = a_, .dt = dt_, .out = alpha});
    step.backend.recur(args);
    step.backend.norm(
        {.x = args.out, .weight = norm_, .eps = spec_.norm_eps, .width = spec_.value_dim, .out = args.out});
    step.backend.gate({.x = args.out, .gate = gate, .function = GateFunction::kSilu});
    project(step, args.out, output_, out);
  }

 private:
  int key_width() const { return spec_.key_heads * spec_.key_dim; }
  int value_width() const { return spec_.value_heads * spec_.value_dim; }
  int mixed_width() const { return 2 * key_width() + value_width(); }  // What goes through the convolution.
  int input_width() const { return mixed_width() + value_width() + 2 * spec_.value_heads; }

  RecurArgs shape() const {
    RecurArgs args;
    args.key_heads = spec_.key_heads;
    args.value_heads = spec_.value_heads;
    args.key_dim = spec_.key_dim;
    args.value_dim = spec_.value_dim;
    args.tiled = spec_.tiled;
    args.stream = kRows;
    return args;
  }

  GatedDeltaSpec spec_;
  std::vector<Projection> inputs_;  // q, k, v, gate, beta, alpha, in this order, some of them in one.
  const Weight* taps_ = nullptr;
  const Weight* a_ = nullptr;
  const Weight* dt_ = nullptr;
  const Weight* norm_ = nullptr;
  Projection output_;
};

}  // namespace

std::unique_ptr<Mixer> gated_delta(const GatedDeltaSpec& spec, Scope scope) {
  return std::make_unique<GatedDelta>(spec, scope);
}

}  // namespace plait
