// Activations to 8-bit codes, against the plain rule of linear-kernels.md 3.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "support/for_each_isa.h"
#include "support/linear_reference.h"
#include "support/numbers.h"

namespace plait {
namespace {

void expect_reference(const Kernels& kernels, const std::vector<float>& x, int cols) {
  const int tokens = static_cast<int>(x.size()) / cols, stride = activation_stride(cols);
  for (int parts = 1; parts <= 2; ++parts) {
    std::vector<ActivationGroup> out(static_cast<std::size_t>(tokens * stride));
    kernels.quantize({.x = x.data(),
                      .x_stride = cols,
                      .cols = cols,
                      .token_begin = 0,
                      .token_end = tokens,
                      .zero = 8,
                      .parts = parts,
                      .out = out.data()});
    for (int t = 0; t < tokens; ++t) {
      for (int g = 0; g < activation_groups(cols); ++g) {
        const ReferenceGroup wanted = reference_quantize(x.data() + t * cols + g * 32, std::min(32, cols - g * 32));
        const ActivationGroup& found = out[static_cast<std::size_t>(t * stride + g)];
        ASSERT_PRED2(same_bits, found.scale, wanted.scale);
        int sums[2] = {0, 0};
        for (int i = 0; i < 32; ++i) {
          ASSERT_EQ(found.codes[i], wanted.codes[i]) << "value " << i << " of group " << g;
          ASSERT_NE(found.codes[i], -128);
          sums[parts == 1 ? 0 : i / 16] += found.codes[i];
        }
        for (int part = 0; part < parts; ++part) {
          ASSERT_EQ(found.start[part], -8 * sums[part]);
          ASSERT_EQ(found.sum[part], static_cast<float>(sums[part]));
        }
      }
    }
  }
}

TEST(Quantize, GivesThePlainRulesCodesAtEveryMagnitude) {
  for_each_isa([](const Kernels& kernels) {
    for (int exponent = -149; exponent <= 126; exponent += 1) {
      expect_reference(kernels,
                       random_floats(4 * 64, static_cast<unsigned>(exponent + 200), std::ldexp(1.0f, exponent)), 64);
    }
  });
}

TEST(Quantize, FillsTheLastGroupWithZeros) {
  for_each_isa([](const Kernels& kernels) {
    for (int cols : {1, 15, 16, 17, 31, 33, 47, 48, 49, 100})
      expect_reference(kernels, random_floats(static_cast<std::size_t>(3 * cols), 7), cols);
  });
}

TEST(Quantize, RoundsTiesToEven) {
  std::vector<float> x(32);
  x[0] = 127;  // Scale 1.
  for (int i = 1; i < 32; ++i) x[static_cast<std::size_t>(i)] = static_cast<float>(i) - 16.5f;
  for_each_isa([&](const Kernels& kernels) { expect_reference(kernels, x, 32); });
}

TEST(Quantize, MakesTinyGroupsZeroAndOthersFull) {
  for (float top : {0.0f, -0.0f, 0x1p-149f, 0x1p-101f, 0x1.fffffep-101f, 0x1p-100f, -0x1p-100f, 3e38f,
                    std::numeric_limits<float>::max()}) {
    std::vector<float> x(32, top / 2);
    x[5] = top;
    for_each_isa([&](const Kernels& kernels) { expect_reference(kernels, x, 32); });
  }
}

TEST(Quantize, PoisonsAGroupWithAnInfinityOrANan) {
  for (float bad : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                    std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::quiet_NaN()}) {
    for (std::size_t at : {0u, 13u, 31u}) {
      std::vector<float> x(96, 1.5f);
      x[32 + at] = bad;
      for_each_isa([&](const Kernels& kernels) { expect_reference(kernels, x, 96); });
    }
  }
}

}  // namespace
}  // namespace plait
