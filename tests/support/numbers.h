// Numbers for tests of float arithmetic: repeatable random ones, and comparison of bits.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace plait {

// Normally distributed, the same on every machine up to the standard library's formula.
inline std::vector<float> random_floats(std::size_t count, unsigned seed, float scale = 1) {
  std::mt19937 source(seed);
  std::normal_distribution<float> normal(0, scale);
  std::vector<float> values(count);
  for (float& value : values) value = normal(source);
  return values;
}

// The same bits, or both a NaN: its payload is not part of the contract.
inline bool same_bits(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) || (std::isnan(a) && std::isnan(b));
}

// Fails at the first place where bits differ.
inline void expect_same_bits(std::span<const float> found, std::span<const float> wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_PRED2(same_bits, found[i], wanted[i]) << "at " << i;
}

}  // namespace plait
