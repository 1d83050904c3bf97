// Routing of one token. Comparisons with a NaN are false everywhere, so that one keeps the place it happens to get.
#include "backend/cpu/route.h"

namespace plait {
namespace {

// The best candidates so far: the greatest keys first, the lowest number among equals.
template <class Key>
struct Ranking {
  int* ranked;
  int wanted;
  const Key& key;
  int count = 0;

  // Candidates come in ascending order.
  void offer(int candidate) {
    const float mine = key(candidate);
    if (count == wanted && !(mine > key(ranked[count - 1]))) return;
    int at = count < wanted ? count++ : count - 1;
    for (; at > 0 && mine > key(ranked[at - 1]); --at) ranked[at] = ranked[at - 1];
    ranked[at] = candidate;
  }
};

void probabilities(const Routing& routing, const FloatKernels& kernels, float* x) {
  const int count = routing.experts;
  if (routing.gating == Gating::kSigmoid) {
    kernels.sigmoid(x, x, count);
    return;
  }
  float most = x[0];
  for (int i = 1; i < count; ++i) most = x[i] > most ? x[i] : most;
  for (int i = 0; i < count; ++i) x[i] -= most;
  kernels.exp(x, x, count);
  const float sum = kernels.sum16(x, count);
  for (int i = 0; i < count; ++i) x[i] /= sum;
}

// Which groups may be chosen from: those with the greatest sums of their two best keys.
template <class Key>
void choose_groups(const Routing& routing, const Key& key, bool* kept) {
  float scores[kMaxExpertGroups];
  int best[kMaxExpertGroups];
  const int size = routing.experts / routing.groups;
  for (int group = 0; group < routing.groups; ++group) {
    int top[2];
    Ranking<Key> two{top, size < 2 ? size : 2, key};
    for (int i = 0; i < size; ++i) two.offer(group * size + i);
    scores[group] = two.count < 2 ? key(top[0]) : key(top[0]) + key(top[1]);
    kept[group] = false;
  }
  const auto score = [&scores](int group) { return scores[group]; };
  Ranking<decltype(score)> groups{best, routing.groups_used, score};
  for (int group = 0; group < routing.groups; ++group) groups.offer(group);
  for (int i = 0; i < groups.count; ++i) kept[best[i]] = true;
}

}  // namespace

void route(const Routing& routing, const FloatKernels& kernels, float* logits, int* chosen, float* weights) {
  probabilities(routing, kernels, logits);
  const float* const bias = routing.bias == nullptr
                                ? nullptr
                                : reinterpret_cast<const float*>(routing.bias->buffer->host() + routing.bias->offset);
  const auto key = [logits, bias](int expert) {
    return bias == nullptr ? logits[expert] : logits[expert] + bias[expert];
  };
  bool kept[kMaxExpertGroups];
  const int size = routing.experts / routing.groups;
  if (routing.groups > 1) choose_groups(routing, key, kept);
  Ranking<decltype(key)> experts{chosen, routing.used, key};
  for (int group = 0; group < routing.groups; ++group) {
    if (routing.groups > 1 && !kept[group]) continue;
    for (int i = 0; i < size; ++i) experts.offer(group * size + i);
  }
  float sum = 0;
  for (int i = 0; i < routing.used; ++i) sum += weights[i] = logits[chosen[i]];
  sum += routing.guard;
  for (int i = 0; i < routing.used; ++i) {
    if (routing.normalise) weights[i] = sum == 0 ? 0 : weights[i] / sum;
    if (routing.scale != 0 && routing.scale != 1) weights[i] *= routing.scale;
  }
}

}  // namespace plait
