// Plain loops over one token.
#include "support/experts_reference.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "support/float_reference.h"

namespace plait {
namespace {

// The `count` best of `candidates` by key: descending, equal ones in ascending order.
template <class T>
std::vector<int> best(std::vector<int> candidates, const std::vector<T>& key, int count) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](int a, int b) { return key[static_cast<std::size_t>(a)] > key[static_cast<std::size_t>(b)]; });
  candidates.resize(static_cast<std::size_t>(count));
  return candidates;
}

std::vector<int> numbers(int begin, int count) {
  std::vector<int> out(static_cast<std::size_t>(count));
  std::iota(out.begin(), out.end(), begin);
  return out;
}

template <class T>
Route<T> choose(const Routing& r, const std::vector<T>& p, std::span<const float> bias) {
  std::vector<T> key = p;
  for (std::size_t i = 0; i < bias.size(); ++i) key[i] = p[i] + bias[i];
  std::vector<int> candidates = numbers(0, r.experts);
  if (r.groups > 1) {
    const int size = r.experts / r.groups;
    std::vector<T> scores;
    for (int group = 0; group < r.groups; ++group) {
      T score = 0;
      for (const int expert : best(numbers(group * size, size), key, std::min(size, 2)))
        score += key[static_cast<std::size_t>(expert)];
      scores.push_back(score);
    }
    std::vector<int> kept = best(numbers(0, r.groups), scores, r.groups_used);
    std::erase_if(candidates, [&](int i) { return std::find(kept.begin(), kept.end(), i / size) == kept.end(); });
  }
  Route<T> out;
  out.experts = best(candidates, key, r.used);
  T sum = 0;
  for (const int expert : out.experts) {
    out.weights.push_back(p[static_cast<std::size_t>(expert)]);
    sum += out.weights.back();
  }
  sum += static_cast<T>(r.guard);
  for (T& weight : out.weights) {
    if (r.normalise) weight = sum == 0 ? 0 : weight / sum;
    if (r.scale != 0 && r.scale != 1) weight *= static_cast<T>(r.scale);
  }
  return out;
}

}  // namespace

Route<float> reference_route(const Routing& routing, std::span<const float> logits, std::span<const float> bias) {
  std::vector<float> p(logits.begin(), logits.end());
  if (routing.gating == Gating::kSigmoid) {
    for (float& x : p) x = rule::sigmoid(x);
  } else {
    const float most = *std::max_element(p.begin(), p.end());
    for (float& x : p) x = rule::exp(x - most);
    const float sum = rule::sum16(p);
    for (float& x : p) x = x / sum;
  }
  return choose(routing, p, bias);
}

Route<double> exact_route(const Routing& routing, std::span<const float> logits, std::span<const float> bias) {
  std::vector<double> p(logits.begin(), logits.end());
  if (routing.gating == Gating::kSigmoid) {
    for (double& x : p) x = exact::sigmoid(x);
  } else {
    const double most = *std::max_element(p.begin(), p.end());
    for (double& x : p) x = std::exp(x - most);
    const double sum = std::accumulate(p.begin(), p.end(), 0.0);
    for (double& x : p) x /= sum;
  }
  return choose(routing, p, bias);
}

std::vector<float> reference_experts(const ReferenceExperts& layer, const ReferenceToken& token) {
  const Route<float> route = reference_route(layer.routing, token.logits, layer.bias);
  std::vector<float> out(static_cast<std::size_t>(layer.down.front().row_count));
  for (std::size_t rank = 0; rank < route.experts.size(); ++rank) {
    const auto expert = static_cast<std::size_t>(route.experts[rank]);
    std::vector<float> hidden = reference_linear(layer.gate[expert], token.x.data());
    const std::vector<float> up = reference_linear(layer.up[expert], token.x.data());
    for (std::size_t i = 0; i < hidden.size(); ++i) hidden[i] = rule::silu(hidden[i]) * up[i];
    const std::vector<float> y = reference_linear(layer.down[expert], hidden.data());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = std::fma(route.weights[rank], y[i], out[i]);
  }
  const float gate = token.shared_gate != nullptr ? rule::sigmoid(*token.shared_gate) : 1.0f;
  for (std::size_t i = 0; i < token.shared.size(); ++i)
    out[i] = token.shared_gate != nullptr ? std::fma(gate, token.shared[i], out[i]) : out[i] + token.shared[i];
  return out;
}

std::vector<double> exact_experts(const ReferenceExperts& layer, const ReferenceToken& token) {
  const Route<double> route = exact_route(layer.routing, token.logits, layer.bias);
  const auto product = [](const ReferenceLinear& w, const std::vector<double>& x) {
    std::vector<float> row(static_cast<std::size_t>(w.cols));
    const std::ptrdiff_t row_bytes = std::ptrdiff_t{w.cols} / w.format->info.block_values * w.format->info.block_bytes;
    std::vector<double> y(static_cast<std::size_t>(w.row_count));
    for (int i = 0; i < w.row_count; ++i) {
      w.format->decode(w.rows + i * row_bytes, w.cols, row.data());
      for (std::size_t k = 0; k < row.size(); ++k) y[static_cast<std::size_t>(i)] += static_cast<double>(row[k]) * x[k];
      y[static_cast<std::size_t>(i)] *= static_cast<double>(w.tensor_scale);
    }
    return y;
  };
  const std::vector<double> x(token.x.begin(), token.x.end());
  std::vector<double> out(static_cast<std::size_t>(layer.down.front().row_count));
  for (std::size_t rank = 0; rank < route.experts.size(); ++rank) {
    const auto expert = static_cast<std::size_t>(route.experts[rank]);
    std::vector<double> hidden = product(layer.gate[expert], x);
    const std::vector<double> up = product(layer.up[expert], x);
    for (std::size_t i = 0; i < hidden.size(); ++i) hidden[i] = exact::silu(hidden[i]) * up[i];
    const std::vector<double> y = product(layer.down[expert], hidden);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += route.weights[rank] * y[i];
  }
  const double gate = token.shared_gate != nullptr ? exact::sigmoid(static_cast<double>(*token.shared_gate)) : 1.0;
  for (std::size_t i = 0; i < token.shared.size(); ++i) out[i] += gate * static_cast<double>(token.shared[i]);
  return out;
}

}  // namespace plait
