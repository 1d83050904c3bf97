// Rope: angles against the definitions, written again without cleverness.
#include "mixers/rope.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace plait {
namespace {

std::vector<float> row_of(const RopeSpec& spec, int position) {
  const Result<Rope> rope = Rope::make(spec);
  EXPECT_TRUE(rope) << rope.error().message;
  std::vector<float> row(static_cast<std::size_t>(spec.rotated));
  rope->row(position, row);
  return row;
}

// What a row must be, given the frequencies: cosines, then sines.
void expect_row(const std::vector<float>& row, const std::vector<double>& inv_freq, int position,
                double magnitude = 1) {
  for (std::size_t i = 0; i < inv_freq.size(); ++i) {
    EXPECT_EQ(row[i], static_cast<float>(std::cos(position * inv_freq[i]) * magnitude)) << "pair " << i;
    EXPECT_EQ(row[inv_freq.size() + i], static_cast<float>(std::sin(position * inv_freq[i]) * magnitude))
        << "pair " << i;
  }
}

std::vector<double> plain(int rotated, double base) {
  std::vector<double> inv_freq;
  for (int i = 0; i < rotated / 2; ++i) inv_freq.push_back(std::pow(base, -2.0 * i / rotated));
  return inv_freq;
}

TEST(Rope, TurnsByPositionTimesFrequency) {
  RopeSpec spec;
  spec.rotated = 64;
  for (const int position : {0, 1, 17, 4095, 1'000'000}) expect_row(row_of(spec, position), plain(64, 10000), position);
}

TEST(Rope, DividesByTheFactorOfLinearScaling) {
  RopeSpec spec;
  spec.rotated = 16;
  spec.scaling = RopeScaling::kLinear;
  spec.factor = 4;
  std::vector<double> inv_freq = plain(16, 10000);
  for (double& f : inv_freq) f /= 4;
  expect_row(row_of(spec, 1234), inv_freq, 1234);
}

TEST(Rope, DividesByTheFilesDivisors) {
  RopeSpec spec;
  spec.rotated = 8;
  spec.divisors = {1, 2, 4, 8};
  std::vector<double> inv_freq = plain(8, 10000);
  for (std::size_t i = 0; i < 4; ++i) inv_freq[i] /= static_cast<double>(1 << i);
  expect_row(row_of(spec, 99), inv_freq, 99);
}

TEST(Rope, KeepsFastPairsAndInterpolatesSlowOnesUnderYarn) {
  RopeSpec spec;
  spec.rotated = 128;
  spec.freq_base = 1'000'000;
  spec.scaling = RopeScaling::kYarn;
  spec.factor = 4;
  spec.original_context = 32768;
  std::vector<double> inv_freq = plain(128, 1'000'000);
  const std::vector<double> before = inv_freq;
  const auto pair_of = [](double turns) {
    return 128 * std::log(32768 / (2 * std::acos(-1.0) * turns)) / (2 * std::log(1e6));
  };
  const double low = std::floor(pair_of(32)), high = std::ceil(pair_of(1));
  ASSERT_GT(low, 0);
  ASSERT_LT(high, 63);
  for (std::size_t i = 0; i < inv_freq.size(); ++i) {
    const double ramp = std::min(1.0, std::max(0.0, (static_cast<double>(i) - low) / (high - low)));
    inv_freq[i] = before[i] * (1 - ramp + ramp / 4);
  }
  EXPECT_EQ(inv_freq.front(), before.front());
  EXPECT_EQ(inv_freq.back(), before.back() / 4);
  expect_row(row_of(spec, 5000), inv_freq, 5000, 1 + 0.1 * std::log(4.0));
}

TEST(Rope, RefusesNumbersThatMakeNoAngle) {
  const auto refused = [](auto change) {
    RopeSpec spec;
    spec.rotated = 8;
    change(spec);
    const Result<Rope> rope = Rope::make(spec);
    return rope ? std::string("accepted") : rope.error().message;
  };
  EXPECT_EQ(refused([](RopeSpec&) {}), "accepted");
  EXPECT_THAT(refused([](RopeSpec& s) { s.rotated = 0; }), testing::HasSubstr("wanted a positive even number"));
  EXPECT_THAT(refused([](RopeSpec& s) { s.rotated = 7; }), testing::HasSubstr("wanted a positive even number"));
  EXPECT_THAT(refused([](RopeSpec& s) { s.freq_base = std::nan(""); }), testing::HasSubstr("rope.freq_base"));
  EXPECT_THAT(refused([](RopeSpec& s) { s.factor = 0; }), testing::HasSubstr("rope.scaling.factor"));
  EXPECT_THAT(refused([](RopeSpec& s) {
                s.divisors = {1, 2};
              }),
              testing::HasSubstr("rope_freqs has 2 values, wanted 4"));
  EXPECT_THAT(refused([](RopeSpec& s) { s.divisors = {1, 2, 0, 1}; }), testing::HasSubstr("rope_freqs value 2"));
  EXPECT_THAT(refused([](RopeSpec& s) { s.scaling = RopeScaling::kYarn; }),
              testing::HasSubstr("original_context_length"));
}

}  // namespace
}  // namespace plait
