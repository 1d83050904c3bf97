// Attention: projections, norms, rotary positions, and the backend's attend over the sequence's rows.
#include "mixers/attention.h"

#include <fmt/format.h>

#include <vector>

namespace plait {
namespace {

class Attention final : public Mixer {
 public:
  Attention(const AttentionSpec& spec, Scope& scope) : spec_(spec) {
    const int q = spec.heads * spec.key_dim, k = spec.kv_heads * spec.key_dim, v = spec.kv_heads * spec.value_dim;
    check(!spec.gated || spec.key_dim == spec.value_dim, "a gate is as wide as what it gates");
    if (!spec.gated && scope.has("attn_qkv")) {
      inputs_ = {scope.projection("attn_qkv", q + k + v, spec.dim, spec.qkv_bias)};
    } else {
      const std::vector<int> parts = spec.gated ? std::vector<int>{spec.key_dim, spec.key_dim} : std::vector<int>{};
      inputs_ = {scope.projection("attn_q", q + gate_width(), spec.dim, spec.qkv_bias, parts),
                 scope.projection("attn_k", k, spec.dim, spec.qkv_bias),
                 scope.projection("attn_v", v, spec.dim, spec.qkv_bias)};
    }
    output_ = scope.projection("attn_output", spec.dim, spec.heads * spec.value_dim);
    if (spec.norm_heads) {
      q_norm_ = scope.vector("attn_q_norm", spec.key_dim);
      k_norm_ = scope.vector("attn_k_norm", spec.key_dim);
    }
  }

  std::string describe() const override {
    std::string text = fmt::format("attention, {} / {} heads of {}", spec_.heads, spec_.kv_heads, spec_.key_dim);
    if (spec_.gated) text += ", gated";
    if (spec_.window > 0) text += fmt::format(", window {}", spec_.window);
    return text;
  }

  StateSpec state() const override {
    StateSpec state;
    state.rows[0] = {spec_.kv_heads * spec_.key_dim * row_type_bytes(spec_.key_type), spec_.window};
    state.rows[1] = {spec_.kv_heads * spec_.value_dim * row_type_bytes(spec_.value_type), spec_.window};
    return state;
  }

  int scratch_floats() const override {
    return Workspace::padded(input_width()) + Workspace::padded(spec_.heads * spec_.value_dim);
  }

  void forward(Step& step, Tensor x, Tensor out, const LayerState& state) const override {
    const Tensor qkv = step.scratch.take(x.rows, input_width());
    const Tensor q = qkv.slice_cols(0, q_width());
    const Tensor k = qkv.slice_cols(q_width() + gate_width(), k_width());
    const Tensor v = qkv.slice_cols(q_width() + gate_width() + k_width(), v_width());
    project(step, x, inputs_, qkv);
    if (spec_.norm_heads) {
      step.backend.norm({.x = q, .weight = q_norm_, .eps = spec_.norm_eps, .width = spec_.key_dim, .out = q});
      step.backend.norm({.x = k, .weight = k_norm_, .eps = spec_.norm_eps, .width = spec_.key_dim, .out = k});
    }
    if (spec_.rope >= 0) {
      const Tensor table = step.rope[static_cast<std::size_t>(spec_.rope)];
      for (const Tensor& heads : {q, k}) {
        step.backend.rope(
            {.x = heads, .table = table, .head_dim = spec_.key_dim, .rotated = spec_.rotated, .pairs = spec_.pairs});
      }
    }
    const Tensor mixed = step.scratch.take(x.rows, spec_.heads * spec_.value_dim);
    step.backend.attend({.q = q,
                         .k = k,
                         .v = v,
                         .out = mixed,
                         .heads = spec_.heads,
                         .kv_heads = spec_.kv_heads,
                         .key_dim = spec_.key_dim,
                         .value_dim = spec_.value_dim,
                         .scale = spec_.scale,
                         .window = spec_.window,
                         .soft_cap = spec_.soft_cap,
                         .key_type = spec_.key_type,
                         .value_type = spec_.value_type,
                         .batch = &step.batch,
                         .state = &state});
    if (spec_.gated) step.backend.gate({.x = mixed, .gate = qkv.slice_cols(q_width(), gate_width())});
    project(step, mixed, output_, out);
  }

 private:
  int q_width() const { return spec_.heads * spec_.key_dim; }
  int gate_width() const { return spec_.gated ? q_width() : 0; }
  int k_width() const { return spec_.kv_heads * spec_.key_dim; }
  int v_width() const { return spec_.kv_heads * spec_.value_dim; }

  int input_width() const { return q_width() + gate_width() + k_width() + v_width(); }

  AttentionSpec spec_;
  std::vector<Projection> inputs_;  // q (and gate), k, v; or one for all three.
  Projection output_;
  const Weight* q_norm_ = nullptr;
  const Weight* k_norm_ = nullptr;
};

}  // namespace

std::unique_ptr<Mixer> attention(const AttentionSpec& spec, Scope scope) {
  return std::make_unique<Attention>(spec, scope);
}

}  // namespace plait
