// Activations to codes of 8 and 16 bits, against the plain rule of linear-kernels.md 3.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "support/for_each_isa.h"
#include "support/linear_reference.h"
#include "support/numbers.h"

namespace plait {
namespace {

QuantizeArgs args_of(const std::vector<float>& x, int cols, int parts, std::vector<ActivationGroup>& out) {
  return {.x = x.data(),
          .x_stride = cols,
          .cols = cols,
          .token_begin = 0,
          .token_end = static_cast<int>(x.size()) / cols,
          .zero = 8,
          .parts = parts,
          .out = out.data()};
}

// One group, whose value i has the code `code(i)`; its other numbers are in `found`.
template <class Code>
void expect_group(const ActivationGroup& found, const ReferenceGroup& wanted, int parts, const Code& code) {
  ASSERT_PRED2(same_bits, found.scale, wanted.scale);
  int sums[2] = {0, 0};
  for (int i = 0; i < 32; ++i) {
    ASSERT_EQ(code(i), wanted.codes[i]) << "value " << i;
    sums[parts == 1 ? 0 : i / 16] += wanted.codes[i];
  }
  for (int part = 0; part < parts; ++part) {
    ASSERT_EQ(found.start[part], -8 * sums[part]);
    ASSERT_EQ(found.sum[part], static_cast<float>(sums[part]));
  }
}

// Both kinds of codes, for one and for two parts.
void expect_reference(const Kernels& kernels, const std::vector<float>& x, int cols) {
  const int tokens = static_cast<int>(x.size()) / cols;
  const int stride = activation_stride(cols), fine_stride = activation_stride(cols, kFinePlanes);
  for (int parts = 1; parts <= 2; ++parts) {
    std::vector<ActivationGroup> out(static_cast<std::size_t>(tokens * stride));
    std::vector<ActivationGroup> fine(static_cast<std::size_t>(tokens * fine_stride));
    kernels.quantize(args_of(x, cols, parts, out));
    kernels.quantize_fine(args_of(x, cols, parts, fine));
    for (int t = 0; t < tokens; ++t) {
      for (int g = 0; g < activation_groups(cols); ++g) {
        SCOPED_TRACE(testing::Message() << "group " << g << " of token " << t);
        const float* at = x.data() + t * cols + g * 32;
        const int count = std::min(32, cols - g * 32);
        const ActivationGroup& group = out[static_cast<std::size_t>(t * stride + g)];
        expect_group(group, reference_quantize(at, count, kReferenceSteps), parts,
                     [&](int i) { return static_cast<int>(group.codes[i]); });
        const ActivationGroup* planes = &fine[static_cast<std::size_t>(t * fine_stride + 2 * g)];
        expect_group(planes[1], reference_quantize(at, count, kReferenceFineSteps), parts,
                     [&](int i) { return 255 * planes[0].codes[i] + planes[1].codes[i]; });
        for (int i = 0; i < 32; ++i) {
          ASSERT_NE(group.codes[i], -128);
          ASSERT_NE(planes[0].codes[i], -128);
          ASSERT_NE(planes[1].codes[i], -128);
        }
        if (testing::Test::HasFatalFailure()) return;
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
  for (const int top : {kReferenceSteps, kReferenceFineSteps}) {
    x[0] = static_cast<float>(top);  // Scale 1.
    for (int i = 1; i < 32; ++i) x[static_cast<std::size_t>(i)] = static_cast<float>(i) - 16.5f;
    for_each_isa([&](const Kernels& kernels) { expect_reference(kernels, x, 32); });
  }
}

// The largest value gives the scale 1, so that the others are their own codes.
TEST(Quantize, CutsEveryFineCodeIntoTwoBalancedDigits) {
  std::vector<float> x;
  for (int code = -kReferenceFineSteps; code <= kReferenceFineSteps; ++code) {
    if (x.size() % 32 == 0) x.push_back(static_cast<float>(kReferenceFineSteps));
    x.push_back(static_cast<float>(code));
  }
  x.resize((x.size() + 31) / 32 * 32, static_cast<float>(kReferenceFineSteps));
  for_each_isa([&](const Kernels& kernels) {
    std::vector<ActivationGroup> out(2 * x.size() / 32 + 1);
    kernels.quantize_fine(args_of(x, static_cast<int>(x.size()), 1, out));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const ActivationGroup* planes = &out[i / 32 * 2];
      ASSERT_EQ(planes[1].scale, 1.0f);
      ASSERT_EQ(255 * planes[0].codes[i % 32] + planes[1].codes[i % 32], static_cast<int>(x[i]));
      ASSERT_NE(planes[0].codes[i % 32], -128);
      ASSERT_NE(planes[1].codes[i % 32], -128);
    }
  });
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
