// Mixture of experts, slowly: routing and the experts' sum as linear-kernels.md 7.4 says them, and the same in double.
#pragma once

#include <span>
#include <vector>

#include "backend/ops.h"
#include "support/linear_reference.h"

namespace plait {

template <class T>
struct Route {
  std::vector<int> experts;  // Best first.
  std::vector<T> weights;
};
// `bias`: one an expert, or nothing; routing.bias is not read. Logits are finite.
Route<float> reference_route(const Routing& routing, std::span<const float> logits, std::span<const float> bias);
Route<double> exact_route(const Routing& routing, std::span<const float> logits, std::span<const float> bias);

// One token of a layer of experts. Activations are SiLU.
struct ReferenceExperts {
  Routing routing;
  std::vector<float> bias;
  std::vector<ReferenceLinear> gate, up, down;  // One an expert.
};
// `shared`: the shared expert's output, or nothing; it counts times the sigmoid of *shared_gate where that is there.
struct ReferenceToken {
  std::span<const float> x, logits, shared;
  const float* shared_gate = nullptr;
};

// Bit for bit.
std::vector<float> reference_experts(const ReferenceExperts& layer, const ReferenceToken& token);
// In double throughout; weights are float formats.
std::vector<double> exact_experts(const ReferenceExperts& layer, const ReferenceToken& token);

}  // namespace plait
