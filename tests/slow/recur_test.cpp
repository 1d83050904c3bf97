// Precision of the gated delta rule over 4096 tokens against a double recurrence (anchored-recurrence.md 8).
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "support/for_each_isa.h"
#include "support/recur_layer.h"

namespace plait {
namespace {

constexpr int kTokens = 4096;
constexpr double kMostOfClassic = 1.25, kMost = 2e-6;

struct Kind {
  const char* name;
  std::function<void(RecurSequence& sequence)> set;
};

float uniform(std::mt19937& random) { return static_cast<float>(random() >> 8) * 0x1p-24f; }

// decay = exp(log), with log from `next`.
std::function<void(RecurSequence&)> decays(std::function<double(std::mt19937&)> next) {
  return [next = std::move(next)](RecurSequence& s) {
    std::mt19937 random(7);
    for (float& a : s.decay) a = static_cast<float>(std::exp(next(random)));
  };
}

void no_decay(RecurSequence& s) { std::fill(s.decay.begin(), s.decay.end(), 1.0f); }
void full_beta(RecurSequence& s) { std::fill(s.beta.begin(), s.beta.end(), 1.0f); }

// All keys are the first one, each moved by noise of that size.
void constant_keys(RecurSequence& s, float noise) {
  const auto width = static_cast<std::size_t>(s.shape.key_width());
  const std::vector<float> moved = random_floats(s.k.size(), 5, noise);
  for (std::size_t i = width; i < s.k.size(); ++i) s.k[i] = s.k[i % width] + moved[i];
  s.k = RecurSequence::normalised(s.k, s.shape.key_dim);
}

const Kind kKinds[] = {
    {"typical gates", [](RecurSequence&) {}},
    {"no decay", no_decay},
    {"decay in [-1e-4, 0]", decays([](std::mt19937& r) { return -1e-4 * uniform(r); })},
    {"decay in [-20, 0]", decays([](std::mt19937& r) { return -20.0 * uniform(r); })},
    {"decay -20", decays([](std::mt19937&) { return -20.0; })},
    {"rare -20 among weak", decays([](std::mt19937& r) { return r() % 50 == 0 ? -20.0 : -0.01 * uniform(r); })},
    {"rare, down to -200", decays([](std::mt19937& r) { return r() % 50 == 0 ? -200.0 * uniform(r) : -1e-3; })},
    {"beta 0 or 1",
     [](RecurSequence& s) {
       std::mt19937 random(8);
       for (float& b : s.beta) b = random() % 2 == 0 ? 0.0f : 1.0f;
     }},
    {"beta 1", full_beta},
    {"beta up to 2, no decay",
     [](RecurSequence& s) {
       std::mt19937 random(9);
       no_decay(s);
       for (float& b : s.beta) b = 2 * uniform(random);
     }},
    {"half of the keys zero",
     [](RecurSequence& s) {
       const auto width = static_cast<std::size_t>(s.shape.key_width());
       for (std::size_t i = 0; i < s.k.size(); ++i) s.k[i] = i / width % 2 == 0 ? s.k[i] : 0.0f;
     }},
    {"one constant key, beta below 1",
     [](RecurSequence& s) {
       no_decay(s);
       constant_keys(s, 0);
     }},
    {"one constant key, beta 1",
     [](RecurSequence& s) {
       no_decay(s);
       full_beta(s);
       constant_keys(s, 0);
     }},
    {"nearly constant keys, beta 1",
     [](RecurSequence& s) {
       no_decay(s);
       full_beta(s);
       constant_keys(s, 1e-3f);
     }},
};

TEST(Recur, IsAsPreciseAsTheClassicStep) {
  const Kernels& best = *kernels_for("").value();
  for (const int dim : {64, 128}) {
    for (const Kind& kind : kKinds) {
      SCOPED_TRACE(testing::Message() << kind.name << ", heads of " << dim);
      const RecurShape shape{.key_dim = dim, .value_dim = dim};
      RecurSequence sequence(shape, kTokens, 1);
      for (float& q : sequence.q) q *= 1 / std::sqrt(static_cast<float>(dim));
      kind.set(sequence);
      RecurLayer layer(shape, best, 1, kTokens / 16, 8);
      RecurTrack track;
      layer.step({{.track = &track, .sequence = &sequence, .count = kTokens}});
      const RecurHead head = sequence.head(0);
      const std::vector<double> wanted = exact::recur(head);
      const double error = rms_error(track.out, wanted), classic_error = rms_error(classic::recur(head), wanted);
      std::printf("%s, heads of %d: %.2g, classic %.2g\n", kind.name, dim, error, classic_error);
      EXPECT_LE(error, kMostOfClassic * classic_error);
      EXPECT_LE(error, kMost);
    }
  }
}

}  // namespace
}  // namespace plait
