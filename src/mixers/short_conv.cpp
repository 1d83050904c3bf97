// Gated short convolution.
#include "mixers/short_conv.h"

#include <fmt/format.h>

namespace plait {
namespace {

class ShortConv final : public Mixer {
 public:
  ShortConv(const ShortConvSpec& spec, Scope& scope) : spec_(spec) {
    input_ = scope.projection("shortconv.in_proj", 3 * spec.dim, spec.dim);
    taps_ = scope.taps("shortconv.conv", spec.dim, spec.taps);
    output_ = scope.projection("shortconv.out_proj", spec.dim, spec.dim);
  }

  std::string describe() const override { return fmt::format("short convolution, {} taps", spec_.taps); }
  StateSpec state() const override {
    StateSpec state;
    state.rows[0] = {spec_.dim * static_cast<int>(sizeof(float)), spec_.taps, false};
    return state;
  }
  int scratch_floats() const override { return Workspace::padded(3 * spec_.dim) + Workspace::padded(spec_.dim); }

  void forward(Step& step, Tensor x, Tensor out, const LayerState& state) const override {
    const Tensor input = step.scratch.take(x.rows, 3 * spec_.dim);
    project(step, x, input_, input);
    const Tensor b = input.slice_cols(0, spec_.dim), c = input.slice_cols(spec_.dim, spec_.dim);
    const Tensor u = input.slice_cols(2 * spec_.dim, spec_.dim);
    step.backend.gate({.x = u, .gate = b, .function = GateFunction::kIdentity});
    const Tensor mixed = step.scratch.take(x.rows, spec_.dim);
    step.backend.conv(
        {.x = u, .taps = taps_, .tap_count = spec_.taps, .out = mixed, .batch = &step.batch, .state = &state});
    step.backend.gate({.x = mixed, .gate = c, .function = GateFunction::kIdentity});
    project(step, mixed, output_, out);
  }

 private:
  ShortConvSpec spec_;
  Projection input_, output_;
  const Weight* taps_ = nullptr;
};

}  // namespace

std::unique_ptr<Mixer> short_conv(const ShortConvSpec& spec, Scope scope) {
  return std::make_unique<ShortConv>(spec, scope);
}

}  // namespace plait
