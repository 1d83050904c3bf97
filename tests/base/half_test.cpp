// f16 and bf16 against their definitions: every pattern, every value halfway between two.
#include "base/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace plait {
namespace {

// By the definition of binary16, in double.
double f16_value(int bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const double magnitude = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST(Half, EveryF16PatternWidensExactlyAndComesBack) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = f16_to_float(half);
    if ((bits & 0x7c00) != 0x7c00) {
      ASSERT_EQ(value, f16_value(bits)) << bits;
    } else {
      ASSERT_EQ(std::isnan(value), (bits & 0x3ff) != 0) << bits;
    }
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(f16_to_float(float_to_f16(value)))) << bits;
    } else {
      ASSERT_EQ(float_to_f16(value), half);
    }
  }
}

TEST(Half, NarrowingRoundsToTheNearestF16AndTiesToEven) {
  for (int bits = 0; bits < 0x7c00; ++bits) {  // Beyond the largest lies what would be 65536.
    const auto middle = static_cast<float>((f16_value(bits) + f16_value(bits + 1)) / 2);
    const int even = bits + (bits & 1);
    ASSERT_EQ(float_to_f16(middle), even) << bits;
    ASSERT_EQ(float_to_f16(-middle), even | 0x8000) << bits;
    ASSERT_EQ(float_to_f16(std::nextafter(middle, 0.0f)), bits);
    ASSERT_EQ(float_to_f16(std::nextafter(middle, 1e9f)), bits + 1);
  }
  EXPECT_EQ(float_to_f16(std::numeric_limits<float>::max()), 0x7c00);
  EXPECT_EQ(float_to_f16(-std::numeric_limits<float>::infinity()), 0xfc00);
  EXPECT_EQ(float_to_f16(std::numeric_limits<float>::denorm_min()), 0);
}

TEST(Half, Bf16IsTheUpperHalfRoundedToNearestEven) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = bf16_to_float(half);
    ASSERT_EQ(std::bit_cast<std::uint32_t>(value), bits << 16);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(bf16_to_float(float_to_bf16(value))));
      continue;
    }
    ASSERT_EQ(float_to_bf16(value), half);
    if (std::isinf(value)) continue;
    const auto at = [&](std::uint32_t low) { return float_to_bf16(std::bit_cast<float>(bits << 16 | low)); };
    ASSERT_EQ(at(0x7fff), half);
    ASSERT_EQ(at(0x8000), half + (half & 1));
    ASSERT_EQ(at(0x8001), half + 1);
  }
  EXPECT_TRUE(std::isnan(bf16_to_float(float_to_bf16(std::bit_cast<float>(0x7f800001u)))));
}

}  // namespace
}  // namespace plait
