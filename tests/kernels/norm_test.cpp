// RMS norm: the bits of its rule on every instruction set, near the mathematics.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/float_reference.h"
#include "support/for_each_isa.h"
#include "support/numbers.h"

namespace plait {
namespace {

TEST(Norm, GivesTheBitsOfItsRule) {
  for (const int width : {1, 8, 15, 16, 17, 64, 80, 576, 1023, 4096}) {
    const std::size_t n = static_cast<std::size_t>(width);
    for (const float size : {1e-30f, 1e-3f, 1.0f, 3e4f}) {
      const std::vector<float> x = random_floats(n, 1, size), w = random_floats(n, 2);
      const std::vector<float> wanted = rule::rms_norm(x, w, 1e-5f);
      for_each_isa([&](const Kernels& kernels) {
        std::vector<float> found = x;
        kernels.floats.rms_norm(found.data(), w.data(), 1e-5f, found.data(), width);  // In place.
        expect_same_bits(found, wanted);
      });
    }
  }
}

TEST(Norm, IsNearTheMathematics) {
  for (const int width : {16, 64, 576, 4096}) {
    const std::size_t n = static_cast<std::size_t>(width);
    const std::vector<float> x = random_floats(n, 3), w = random_floats(n, 4);
    const std::vector<float> y = rule::rms_norm(x, w, 1e-5f);
    const std::vector<double> wanted = exact::rms_norm(x, w, 1e-5f);
    // Half of the sum's error, as a root halves it; five roundings after it, and two for each value.
    const double steps = (width / 16.0 + 4) / 2 + 7;
    for (std::size_t i = 0; i < n; ++i) EXPECT_LE(std::fabs(y[i] - wanted[i]), steps * 0x1p-24 * std::fabs(wanted[i]));
  }
}

}  // namespace
}  // namespace plait
