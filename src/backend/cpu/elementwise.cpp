// Sums, activations and copies of rows.
#include <cstring>

#include "backend/cpu/float_ops.h"
#include "backend/cpu/split.h"

namespace plait {
namespace {

std::size_t row_bytes(const Tensor& tensor) { return static_cast<std::size_t>(tensor.cols) * sizeof(float); }

}  // namespace

void add(Tensor x, Tensor y, FloatRunner on) {
  check(x.rows == y.rows && x.cols == y.cols, "a sum has terms of one shape");
  const Mat<float> to = x.host(), from = y.host();
  for_each_row(on.pool, x.rows, x.cols, [&](int t) { on.kernels.add(to.row(t), from.row(t), to.row(t), to.cols); });
}

void sigmoid(Tensor x, FloatRunner on) {
  const Mat<float> rows = x.host();
  for_each_row(on.pool, x.rows, x.cols, [&](int t) { on.kernels.sigmoid(rows.row(t), rows.row(t), rows.cols); });
}

void decay(const DecayArgs& args, FloatRunner on) {
  check(args.a->cols == args.alpha.cols && args.dt->cols == args.alpha.cols && args.out.cols == args.alpha.cols,
        "a decay has one factor and one step a head");
  const Mat<float> alpha = args.alpha.host(), out = args.out.host();
  const auto numbers = [](const Weight& weight) {
    return reinterpret_cast<const float*>(weight.buffer->host() + weight.offset);
  };
  const float *const a = numbers(*args.a), *const dt = numbers(*args.dt);
  for_each_row(on.pool, alpha.rows, alpha.cols,
               [&](int t) { on.kernels.decay(alpha.row(t), a, dt, out.row(t), alpha.cols); });
}

void gate(const GateArgs& args, FloatRunner on) {
  check(args.x.rows == args.gate.rows && args.x.cols == args.gate.cols, "a gate is as wide as what it gates");
  const Mat<float> x = args.x.host(), g = args.gate.host();
  const auto function = on.kernels.gate[static_cast<int>(args.function)];
  for_each_row(on.pool, x.rows, x.cols, [&](int t) { function(g.row(t), x.row(t), x.row(t), x.cols); });
}

void activate(Activation activation, Tensor gate, Tensor up, Tensor out, FloatRunner on) {
  check(gate.rows == up.rows && gate.cols == up.cols, "gate and up have one shape");
  check(out.rows == up.rows && out.cols == up.cols, "gate and result have one shape");
  const Mat<float> g = gate.host(), u = up.host(), y = out.host();
  const auto function = on.kernels.glu[static_cast<int>(activation)];
  for_each_row(on.pool, y.rows, y.cols, [&](int t) { function(g.row(t), u.row(t), y.row(t), y.cols); });
}

void gather_rows(Tensor x, std::span<const int> rows, Tensor out) {
  check(out.rows == static_cast<int>(rows.size()) && out.cols == x.cols, "gathered rows fit their place");
  const Mat<float> from = x.host(), to = out.host();
  for (int i = 0; i < out.rows; ++i) {
    const int row = rows[static_cast<std::size_t>(i)];
    check(row >= 0 && row < x.rows, "a gathered row exists");
    std::memcpy(to.row(i), from.row(row), row_bytes(x));
  }
}

void read_rows(Tensor from, std::span<float> to) {
  check(to.size() == static_cast<std::size_t>(from.rows) * static_cast<std::size_t>(from.cols), "all is read");
  const Mat<float> rows = from.host();
  for (int i = 0; i < rows.rows; ++i) {
    std::memcpy(to.data() + static_cast<std::ptrdiff_t>(i) * rows.cols, rows.row(i), row_bytes(from));
  }
}

void write_rows(std::span<const float> from, Tensor to) {
  check(from.size() == static_cast<std::size_t>(to.rows) * static_cast<std::size_t>(to.cols), "all is written");
  const Mat<float> rows = to.host();
  for (int i = 0; i < rows.rows; ++i) {
    std::memcpy(rows.row(i), from.data() + static_cast<std::ptrdiff_t>(i) * rows.cols, row_bytes(to));
  }
}

}  // namespace plait
