// Vector functions: the bits of their rule on every instruction set, and how far the rule is from the mathematics.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "support/float_reference.h"
#include "support/for_each_isa.h"
#include "support/numbers.h"

namespace plait {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// Lengths around every boundary of the loops.
constexpr int kLengths[] = {1, 2, 7, 15, 16, 17, 31, 32, 33, 48, 100, 576, 1000};

// All magnitudes and both signs, with the special values in front.
std::vector<float> all_magnitudes() {
  std::vector<float> values = {0.0f,
                               -0.0f,
                               kInfinity,
                               -kInfinity,
                               kNaN,
                               0x1p-149f,
                               -0x1p-149f,
                               0x1.fffffep+127f,
                               -0x1.fffffep+127f,
                               0x1.62e42ep+6f,
                               0x1.62e430p+6f,
                               -0x1.5d589ep+6f,
                               -0x1.5d58a0p+6f,
                               0x1.62e42cp+6f,
                               -0x1.5d589cp+6f,
                               88.0f,
                               104.0f,
                               -104.0f,
                               1.0f,
                               -1.0f};
  for (int exponent = -149; exponent < 128; ++exponent) {
    for (const float mantissa : {1.0f, 1.25f, 1.6180339f, 1.9999999f}) {
      values.push_back(std::ldexp(mantissa, exponent));
      values.push_back(-std::ldexp(mantissa, exponent));
    }
  }
  for (int i = -2700; i < 2700; ++i) values.push_back(0.0371f * static_cast<float>(i));
  return values;
}

struct Function {
  const char* name;
  MapKernel FloatKernels::*kernel;
  float (*rule)(float);
};

constexpr Function kFunctions[] = {
    {"exp", &FloatKernels::exp, rule::exp},
    {"log1p", &FloatKernels::log1p, rule::log1p},
    {"silu", &FloatKernels::silu, rule::silu},
    {"sigmoid", &FloatKernels::sigmoid, rule::sigmoid},
    {"softplus", &FloatKernels::softplus, rule::softplus},
    {"tanh", &FloatKernels::tanh, rule::tanh},
    {"gelu_tanh", &FloatKernels::gelu_tanh, rule::gelu_tanh},
    {"relu2", &FloatKernels::relu2, rule::relu2},
};

TEST(Vector, FunctionsGiveTheBitsOfTheirRule) {
  const std::vector<float> x = all_magnitudes();
  for (const Function& function : kFunctions) {
    SCOPED_TRACE(function.name);
    std::vector<float> wanted;
    for (const float value : x) wanted.push_back(function.rule(value));
    for_each_isa([&](const Kernels& kernels) {
      std::vector<float> found(x.size());
      (kernels.floats.*function.kernel)(x.data(), found.data(), static_cast<int>(x.size()));
      expect_same_bits(found, wanted);
    });
  }
}

TEST(Vector, FunctionsWriteTheirLengthAndNoMore) {
  for_each_isa([&](const Kernels& kernels) {
    for (const Function& function : kFunctions) {
      for (const int length : kLengths) {
        const std::vector<float> x = random_floats(static_cast<std::size_t>(length), 1);
        std::vector<float> y(static_cast<std::size_t>(length) + 16, 77.0f);
        (kernels.floats.*function.kernel)(x.data(), y.data(), length);
        for (std::size_t i = 0; i < x.size(); ++i) ASSERT_PRED2(same_bits, y[i], function.rule(x[i]));
        for (std::size_t i = x.size(); i < y.size(); ++i) ASSERT_EQ(y[i], 77.0f) << function.name;
      }
    }
  });
}

TEST(Vector, ExpHasNoDenormalResultsAndKeepsNaN) {
  for_each_isa([](const Kernels& kernels) {
    const std::array<float, 6> x = {kInfinity, -kInfinity, kNaN, 0x1.62e430p+6f, -0x1.5d58a0p+6f, -0.0f};
    std::array<float, 6> y{};
    kernels.floats.exp(x.data(), y.data(), 6);
    EXPECT_EQ(y[0], kInfinity);
    EXPECT_TRUE(same_bits(y[1], 0.0f));
    EXPECT_TRUE(std::isnan(y[2]));
    EXPECT_EQ(y[3], kInfinity);
    EXPECT_TRUE(same_bits(y[4], 0.0f));
    EXPECT_EQ(y[5], 1.0f);
  });
}

TEST(Vector, SumsGiveTheBitsOfTheirRule) {
  for (const int length : kLengths) {
    const std::size_t n = static_cast<std::size_t>(length);
    const std::vector<float> x = random_floats(n, 2), y = random_floats(n, 3);
    const float dot = rule::dot16(x, y), sum = rule::sum16(x);
    for_each_isa([&](const Kernels& kernels) {
      EXPECT_PRED2(same_bits, kernels.floats.dot16(x.data(), y.data(), length), dot) << length;
      EXPECT_PRED2(same_bits, kernels.floats.sum16(x.data(), length), sum) << length;
    });
  }
}

TEST(Vector, DotIsWithinItsErrorBound) {
  for (const int length : kLengths) {
    const std::size_t n = static_cast<std::size_t>(length);
    const std::vector<float> x = random_floats(n, 4), y = random_floats(n, 5);
    double exact = 0, terms = 0;
    for (std::size_t i = 0; i < n; ++i) {
      exact += static_cast<double>(x[i]) * y[i];
      terms += std::fabs(static_cast<double>(x[i]) * y[i]);
    }
    const double steps = (length + 15) / 16 + 4, u = 0x1p-24;
    EXPECT_LE(std::fabs(rule::dot16(x, y) - exact), steps * u / (1 - steps * u) * terms);
  }
}

TEST(Vector, AddAndScaleAreOneOperationEach) {
  for_each_isa([](const Kernels& kernels) {
    for (const int length : kLengths) {
      const std::size_t n = static_cast<std::size_t>(length);
      const std::vector<float> x = random_floats(n, 6), y = random_floats(n, 7);
      std::vector<float> sum(n + 1, 5.0f), scaled(n + 1, 5.0f);
      kernels.floats.add(x.data(), y.data(), sum.data(), length);
      kernels.floats.scale(x.data(), 0.3f, scaled.data(), length);
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_PRED2(same_bits, sum[i], x[i] + y[i]);
        ASSERT_PRED2(same_bits, scaled[i], x[i] * 0.3f);
      }
      EXPECT_EQ(sum[n], 5.0f);
      EXPECT_EQ(scaled[n], 5.0f);
    }
  });
}

TEST(Vector, GluIsTheActivationTimesUp) {
  float (*const rules[3])(float) = {rule::silu, rule::gelu_tanh, rule::relu2};
  for_each_isa([&](const Kernels& kernels) {
    for (std::size_t f = 0; f < 3; ++f) {
      for (const int length : kLengths) {
        const std::size_t n = static_cast<std::size_t>(length);
        const std::vector<float> gate = random_floats(n, 8, 4), up = random_floats(n, 9);
        std::vector<float> wanted(n), found = gate;
        for (std::size_t i = 0; i < n; ++i) wanted[i] = rules[f](gate[i]) * up[i];
        kernels.floats.glu[f](found.data(), up.data(), found.data(), length);  // In place.
        expect_same_bits(found, wanted);
      }
    }
  });
}

// The errors that linear-kernels.md 7.2 states, over values that matter to the function.
TEST(Vector, RulesAreNearTheMathematics) {
  for (int i = -16000; i < 16000; ++i) {
    const float x = 0.00371f * static_cast<float>(i);
    ASSERT_LE(std::fabs(rule::silu(x) - exact::silu(x)), 1.7e-7 * std::fabs(exact::silu(x))) << x;
    ASSERT_LE(std::fabs(rule::softplus(x) - exact::softplus(x)), 2.2e-7 * exact::softplus(x)) << x;
    ASSERT_LE(std::fabs(rule::tanh(x) - std::tanh(static_cast<double>(x))), 9e-8) << x;
    ASSERT_LE(std::fabs(rule::gelu_tanh(x) - exact::gelu_tanh(x)), 4e-7 * std::fabs(x)) << x;
    ASSERT_LE(std::fabs(rule::sigmoid(x) - exact::sigmoid(x)), 4 * 0x1p-24 * exact::sigmoid(x)) << x;
  }
}

}  // namespace
}  // namespace plait
