// Gated feed-forward.
#include "ffn/glu.h"

#include <fmt/format.h>

namespace plait {

std::string_view name_of(Activation activation) {
  switch (activation) {
    case Activation::kSilu:
      return "silu";
    case Activation::kGeluTanh:
      return "gelu";
    case Activation::kRelu2:
      return "relu2";
  }
  return "";
}

namespace {

class Glu final : public Ffn {
 public:
  Glu(const GluSpec& spec, Scope& scope) : spec_(spec) {
    gate_ = scope.projection(fmt::format("ffn_gate{}", spec.suffix), spec.hidden, spec.dim);
    up_ = scope.projection(fmt::format("ffn_up{}", spec.suffix), spec.hidden, spec.dim);
    down_ = scope.projection(fmt::format("ffn_down{}", spec.suffix), spec.dim, spec.hidden);
  }

  std::string describe() const override { return fmt::format("glu {}, {}", name_of(spec_.activation), spec_.hidden); }
  int scratch_floats() const override { return Workspace::padded(spec_.hidden); }

  void forward(Step& step, Tensor x, Tensor out) const override {
    const Tensor hidden = step.scratch.take(x.rows, spec_.hidden);
    step.backend.glu({.x = x, .gate = gate_, .up = up_, .activation = spec_.activation, .out = hidden});
    project(step, hidden, down_, out);
  }

 private:
  GluSpec spec_;
  Projection gate_, up_, down_;
};

}  // namespace

std::unique_ptr<Ffn> glu(const GluSpec& spec, Scope scope) { return std::make_unique<Glu>(spec, scope); }

}  // namespace plait
