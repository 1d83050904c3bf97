// Attention as its rule is written: parts of 512, blocks of 16, one row after the other.
#include "support/attend_reference.h"

#include <algorithm>
#include <cmath>

#include "base/half.h"
#include "support/float_reference.h"

namespace plait {

float round_to(RowType type, float value) {
  if (type == RowType::kF16) return f16_to_float(float_to_f16(value));
  if (type == RowType::kBF16) return bf16_to_float(float_to_bf16(value));
  return value;
}

namespace {

bool visible(const AttendCase& args, int row) {
  return row <= args.position && (args.window == 0 || args.position - row < args.window);
}

}  // namespace

namespace rule {
namespace {

// What has been seen of one part, or of several.
struct State {
  bool any = false;
  float m = -std::numeric_limits<float>::infinity();
  float l = 0;
  std::vector<float> o;
};

float score(const AttendCase& args, int row) {
  float s = 0;
  for (std::size_t i = 0; i < args.q.size(); ++i) {
    s = std::fma(args.q[i] * args.scale, (*args.keys)[static_cast<std::size_t>(row)][i], s);
  }
  return args.soft_cap == 0 ? s : args.soft_cap * tanh(s / args.soft_cap);
}

void block(const AttendCase& args, int first_row, State& state) {
  float s[16] = {}, w[16] = {};
  float mn = state.m;
  bool any = false;
  for (int j = 0; j < 16; ++j) {
    if (!visible(args, first_row + j)) continue;
    any = true;
    s[j] = score(args, first_row + j);
    mn = std::max(mn, s[j]);
  }
  if (!any) return;
  state.any = true;
  const float c = exp(state.m - mn);
  state.m = mn;
  for (int j = 0; j < 16; ++j) w[j] = visible(args, first_row + j) ? exp(s[j] - mn) : 0.0f;
  state.l = std::fma(state.l, c, tree(w));
  for (float& o : state.o) o = o * c;
  for (int j = 0; j < 16; ++j) {
    if (!visible(args, first_row + j)) continue;
    const std::vector<float>& v = (*args.values)[static_cast<std::size_t>(first_row + j)];
    for (std::size_t i = 0; i < v.size(); ++i) state.o[i] = std::fma(w[j], v[i], state.o[i]);
  }
}

void merge(State& all, const State& part) {
  if (!all.any) {
    all = part;
    return;
  }
  const float mn = std::max(all.m, part.m);
  const float a = exp(all.m - mn), b = exp(part.m - mn);
  all.m = mn;
  all.l = std::fma(part.l, b, all.l * a);
  for (std::size_t i = 0; i < all.o.size(); ++i) all.o[i] = std::fma(part.o[i], b, all.o[i] * a);
}

}  // namespace

std::vector<float> attend(const AttendCase& args) {
  const std::size_t value_dim = (*args.values)[static_cast<std::size_t>(args.position)].size();
  State all;
  all.o.assign(value_dim, 0.0f);
  for (int part = 0; part <= args.position; part += 512) {
    State state;
    state.o.assign(value_dim, 0.0f);
    for (int row = part; row < part + 512 && row <= args.position; row += 16) block(args, row, state);
    if (state.any) merge(all, state);
  }
  if (args.sink != nullptr) {
    State sink;
    sink.m = *args.sink;
    sink.l = 1;
    sink.o.assign(value_dim, 0.0f);
    merge(all, sink);
  }
  const float inverse = 1.0f / all.l;
  for (float& o : all.o) o = o * inverse;
  return all.o;
}

}  // namespace rule

namespace exact {
namespace {

// Softmax weights of the visible rows, from the first on; the sink takes its share and gives nothing.
std::vector<double> weights(const AttendCase& args) {
  std::vector<double> w;
  for (int row = 0; row <= args.position; ++row) {
    double s = 0;
    if (visible(args, row)) {
      for (std::size_t i = 0; i < args.q.size(); ++i) {
        s += static_cast<double>(args.q[i]) * args.scale * (*args.keys)[static_cast<std::size_t>(row)][i];
      }
      if (args.soft_cap != 0) s = args.soft_cap * std::tanh(s / args.soft_cap);
    } else {
      s = -std::numeric_limits<double>::infinity();
    }
    w.push_back(s);
  }
  double most = *std::max_element(w.begin(), w.end());
  if (args.sink != nullptr) most = std::max(most, static_cast<double>(*args.sink));
  double sum = args.sink == nullptr ? 0 : std::exp(*args.sink - most);
  for (double& s : w) sum += s = std::exp(s - most);
  for (double& s : w) s /= sum;
  return w;
}

std::vector<double> weighted(const AttendCase& args, bool absolute) {
  const std::vector<double> w = weights(args);
  std::vector<double> out((*args.values)[static_cast<std::size_t>(args.position)].size());
  for (int row = 0; row <= args.position; ++row) {
    if (!visible(args, row)) continue;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const double term = w[static_cast<std::size_t>(row)] * (*args.values)[static_cast<std::size_t>(row)][i];
      out[i] += absolute ? std::fabs(term) : term;
    }
  }
  return out;
}

}  // namespace

std::vector<double> attend(const AttendCase& args) { return weighted(args, false); }

std::vector<double> attend_terms(const AttendCase& args) { return weighted(args, true); }

}  // namespace exact
}  // namespace plait
