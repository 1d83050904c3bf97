// Routing: tables of known answers, random ones against the plain rule and double, and logits that are no numbers.
#include "backend/cpu/route.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <set>

#include "support/experts_reference.h"
#include "support/for_each_isa.h"
#include "support/memory_backend.h"
#include "support/numbers.h"

namespace plait {
namespace {

Routing routing_of(int experts, int used, Gating gating) {
  return {.gating = gating, .experts = experts, .used = used};
}

// Runs route() with a bias that lies in a backend's memory.
Route<float> routed(const Kernels& kernels, Routing routing, std::vector<float> logits,
                    const std::vector<float>& bias) {
  MemoryBackend backend;
  std::unique_ptr<Buffer> memory;
  Weight weight;
  if (!bias.empty()) {
    memory = std::move(*backend.allocate(bias.size() * sizeof(float)));
    std::copy(bias.begin(), bias.end(), reinterpret_cast<float*>(memory->host()));
    weight = {.rows = 1, .cols = static_cast<int>(bias.size()), .buffer = memory.get()};
    routing.bias = &weight;
  }
  Route<float> out;
  out.experts.resize(static_cast<std::size_t>(routing.used), -1);
  out.weights.resize(static_cast<std::size_t>(routing.used), -1);
  route(routing, kernels.floats, logits.data(), out.experts.data(), out.weights.data());
  return out;
}

struct Known {
  const char* what;
  Routing routing;
  std::vector<float> logits, bias;
  std::vector<int> experts;
  std::vector<double> weights;
};

std::vector<Known> known_routes() {
  const Routing softmax = routing_of(4, 2, Gating::kSoftmax), sigmoid = routing_of(4, 2, Gating::kSigmoid);
  const auto with = [](Routing routing, bool normalise, float guard, float scale) {
    routing.normalise = normalise;
    routing.guard = guard;
    routing.scale = scale;
    return routing;
  };
  Routing grouped = routing_of(8, 3, Gating::kSigmoid);
  grouped.groups = 4;
  grouped.groups_used = 2;
  const std::vector<float> logits{1, 2, 3, 0};
  const double log3 = std::log(3.0);
  const float p75 = static_cast<float>(log3), p25 = -p75;  // Of these the sigmoid is 3/4 and 1/4; of zero 1/2.
  return {
      {"softmax", softmax, logits, {}, {2, 1}, {0.731059, 0.268941}},
      {"softmax, not normalised", with(softmax, false, 0, 1), logits, {}, {2, 1}, {0.643914, 0.236883}},
      {"sigmoid with a guard", with(sigmoid, true, 1e-6f, 1), logits, {}, {2, 1}, {0.519575, 0.480425}},
      {"bias in the choice alone",
       with(sigmoid, true, 1e-6f, 2.5f),
       logits,
       {0, 0, -0.5f, 0.5f},
       {3, 1},
       {0.905274, 1.594725}},
      {"ties to the lowest", softmax, {1, 1, 1, 1}, {}, {0, 1}, {0.5, 0.5}},
      {"sigmoid, not normalised, scaled", with(sigmoid, false, 0, 2.5f), logits, {}, {2, 1}, {2.381435, 2.201993}},
      {"a scale of zero is none", with(softmax, true, 0, 0), logits, {}, {2, 1}, {0.731059, 0.268941}},
      // The single best expert (7) lies in a group that is not kept: 0.75 + 0.25 < 0.5 + 0.75 and 0.75 + 0.5.
      {"groups by their two best",
       grouped,
       {0, p75, p25, p25, p75, 0, p25, p75 + 0.01f},
       {},
       {1, 4, 0},
       {0.375, 0.375, 0.25}},
      // All groups are equal: the first two are kept.
      {"equal groups", grouped, {0, 0, 0, 0, 0, 0, 0, 0}, {}, {0, 1, 2}, {1. / 3, 1. / 3, 1. / 3}},
      // The bias lifts the last two groups, and the weights do not see it.
      {"groups with a bias",
       grouped,
       {p75, p75, p75, p75, 0, p25, p25, 0},
       {0, 0, 0, 0, 2, 2, 2, 2},
       {4, 7, 5},
       {0.4, 0.4, 0.2}},
      {"a sum of zero", sigmoid, {-200, -200, -200, -200}, {}, {0, 1}, {0, 0}},
  };
}

TEST(Route, GivesTheKnownExpertsAndWeights) {
  for (const Known& known : known_routes()) {
    SCOPED_TRACE(known.what);
    for_each_isa([&](const Kernels& kernels) {
      const Route<float> found = routed(kernels, known.routing, known.logits, known.bias);
      EXPECT_EQ(found.experts, known.experts);
      for (std::size_t i = 0; i < known.weights.size(); ++i) EXPECT_NEAR(found.weights[i], known.weights[i], 1e-6);
    });
  }
}

struct Choice {
  int experts, used, groups, groups_used;
};
constexpr Choice kChoices[] = {{1, 1, 1, 1},    {8, 2, 1, 1},   {60, 4, 1, 1},  {128, 8, 1, 1},
                               {512, 10, 1, 1}, {128, 8, 8, 4}, {256, 8, 8, 4}, {64, 64, 1, 1},
                               {12, 4, 12, 4},  {6, 3, 2, 1},   {256, 8, 64, 5}};

// With `levels`, logits and bias take so few values that most of them are equal.
template <class Body>
void for_each_choice(int levels, const Body& body) {
  unsigned seed = 1;
  for (const Choice& c : kChoices) {
    for (const Gating gating : {Gating::kSoftmax, Gating::kSigmoid}) {
      for (int turn = 0; turn < 8; ++turn, ++seed) {
        Routing routing{.gating = gating,
                        .experts = c.experts,
                        .used = c.used,
                        .groups = c.groups,
                        .groups_used = c.groups_used,
                        .normalise = turn % 2 == 0,
                        .guard = turn % 4 == 0 ? 1e-6f : 0,
                        .scale = turn % 3 == 0 ? 2.5f : 1};
        std::vector<float> logits = random_floats(static_cast<std::size_t>(c.experts), seed, 2), bias;
        if (turn % 2 == 1) bias = random_floats(static_cast<std::size_t>(c.experts), 1000 + seed, 0.2f);
        if (levels > 0) {
          for (float& x : logits) x = std::floor(x * 0.25f * static_cast<float>(levels));
          for (float& x : bias) x = std::floor(x);
        }
        SCOPED_TRACE(testing::Message() << c.used << " of " << c.experts << " experts, " << c.groups_used << " of "
                                        << c.groups << " groups, seed " << seed);
        body(routing, logits, bias);
      }
    }
  }
}

TEST(Route, HasTheBitsOfTheRuleOnEveryInstructionSet) {
  for (const int levels : {0, 1, 3}) {
    for_each_choice(levels,
                    [](const Routing& routing, const std::vector<float>& logits, const std::vector<float>& bias) {
                      const Route<float> wanted = reference_route(routing, logits, bias);
                      for_each_isa([&](const Kernels& kernels) {
                        const Route<float> found = routed(kernels, routing, logits, bias);
                        EXPECT_EQ(found.experts, wanted.experts);
                        expect_same_bits(found.weights, wanted.weights);
                      });
                    });
  }
}

TEST(Route, ChoosesAsDoublesDo) {
  for_each_choice(0, [](const Routing& routing, const std::vector<float>& logits, const std::vector<float>& bias) {
    const Route<double> wanted = exact_route(routing, logits, bias);
    const Route<float> found = reference_route(routing, logits, bias);
    EXPECT_EQ(found.experts, wanted.experts);
    for (std::size_t i = 0; i < wanted.weights.size(); ++i)
      EXPECT_NEAR(found.weights[i], wanted.weights[i], 1e-6 * std::max(1e-6, std::abs(wanted.weights[i])));
  });
}

TEST(Route, TakesDifferentExistingExpertsWhateverTheLogitsAre) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const std::vector<float> strange{nan, -nan, inf, -inf, 0, -0.0f, 1, 3e38f, -3e38f};
  for_each_choice(0, [&](const Routing& routing, const std::vector<float>& random, const std::vector<float>& bias) {
    for (std::size_t every = 1; every <= 3; ++every) {
      std::vector<float> logits = random;
      for (std::size_t i = 0; i < logits.size(); i += every)
        logits[i] = strange[static_cast<std::size_t>(std::abs(random[i]) * 1000) % strange.size()];
      Route<float> first;
      for_each_isa([&](const Kernels& kernels) {
        const Route<float> found = routed(kernels, routing, logits, bias);
        for (const int expert : found.experts) EXPECT_TRUE(expert >= 0 && expert < routing.experts) << expert;
        EXPECT_EQ(std::set<int>(found.experts.begin(), found.experts.end()).size(), found.experts.size());
        if (first.experts.empty()) first = found;
        EXPECT_EQ(found.experts, first.experts);
        expect_same_bits(found.weights, first.weights);
      });
    }
  });
}

TEST(Route, TakesTheLowestWhereNothingIsANumber) {
  const std::vector<float> logits(16, std::numeric_limits<float>::quiet_NaN());
  for_each_isa([&](const Kernels& kernels) {
    for (const Gating gating : {Gating::kSoftmax, Gating::kSigmoid}) {
      const Route<float> found = routed(kernels, routing_of(16, 3, gating), logits, {});
      EXPECT_EQ(found.experts, (std::vector<int>{0, 1, 2}));
      for (const float weight : found.weights) EXPECT_TRUE(std::isnan(weight));
    }
  });
}

}  // namespace
}  // namespace plait
