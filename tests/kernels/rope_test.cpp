// Rotation of a head: both kinds of pairs, the bits of the rule, values beyond the rotated ones untouched.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/float_reference.h"
#include "support/for_each_isa.h"
#include "support/numbers.h"

namespace plait {
namespace {

std::vector<float> random_angles(int rotated, unsigned seed) {
  std::vector<float> row(static_cast<std::size_t>(rotated));
  const std::vector<float> angles = random_floats(row.size() / 2, seed, 100);
  for (std::size_t i = 0; i < angles.size(); ++i) {
    row[i] = std::cos(angles[i]);
    row[angles.size() + i] = std::sin(angles[i]);
  }
  return row;
}

TEST(RopeKernel, RotatesBothKindsOfPairsByTheRule) {
  for (const int rotated : {2, 8, 16, 30, 32, 34, 48, 64, 128}) {
    const int head_dim = rotated + 24;
    const std::vector<float> x = random_floats(static_cast<std::size_t>(head_dim), 1);
    const std::vector<float> angles = random_angles(rotated, 2);
    std::vector<float> neighbours = x, halves = x;
    const std::size_t pairs = static_cast<std::size_t>(rotated) / 2;
    for (std::size_t i = 0; i < pairs; ++i) {
      rule::rotate(neighbours[2 * i], neighbours[2 * i + 1], angles[i], angles[pairs + i]);
      rule::rotate(halves[i], halves[pairs + i], angles[i], angles[pairs + i]);
    }
    for_each_isa([&](const Kernels& kernels) {
      std::vector<float> found = x;
      kernels.floats.rope_neighbours(found.data(), angles.data(), rotated);
      expect_same_bits(found, neighbours);
      found = x;
      kernels.floats.rope_halves(found.data(), angles.data(), rotated);
      expect_same_bits(found, halves);
    });
  }
}

TEST(RopeKernel, KeepsTheLengthOfEachPair) {
  const std::vector<float> x = random_floats(64, 3), angles = random_angles(64, 4);
  std::vector<float> y = x;
  kernels_for("scalar").value()->floats.rope_halves(y.data(), angles.data(), 64);
  for (std::size_t i = 0; i < 32; ++i) EXPECT_NEAR(std::hypot(y[i], y[32 + i]), std::hypot(x[i], x[32 + i]), 1e-6);
}

}  // namespace
}  // namespace plait
