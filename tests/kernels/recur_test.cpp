// What surrounds a recurrence (L2 norm, decay, gates) and the products of keys: the bits of their rules.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "support/float_reference.h"
#include "support/for_each_isa.h"
#include "support/numbers.h"

namespace plait {
namespace {

TEST(L2Norm, GivesTheBitsOfItsRule) {
  for (const int width : {1, 15, 16, 17, 64, 128}) {
    for (const float size : {0.0f, 1e-30f, 1e-3f, 1.0f, 3e4f}) {
      const std::vector<float> x = random_floats(static_cast<std::size_t>(width), 1, size);
      for (const float scale : {1.0f, 0.088388346f}) {
        std::vector<float> wanted = rule::l2_norm(x);
        if (scale != 1.0f) {
          for (float& y : wanted) y = y * scale;
        }
        for_each_isa([&](const Kernels& kernels) {
          std::vector<float> found = x;
          found.push_back(9);  // What lies behind stays.
          kernels.floats.l2_norm(found.data(), scale, width);
          EXPECT_EQ(found.back(), 9);
          found.pop_back();
          expect_same_bits(found, wanted);
        });
      }
    }
  }
}

TEST(Decay, GivesTheBitsOfItsRuleAndStaysBetweenZeroAndOne) {
  for (const std::size_t heads : {1, 16, 21, 32}) {
    std::vector<float> alpha = random_floats(heads, 1, 20), a = random_floats(heads, 2, 3),
                       dt = random_floats(heads, 3);
    for (float& x : a) x = -std::fabs(x);
    alpha[0] = 200;  // The state is forgotten.
    a[0] = -10;
    std::vector<float> wanted(heads);
    for (std::size_t i = 0; i < heads; ++i) wanted[i] = rule::exp(a[i] * rule::softplus(alpha[i] + dt[i]));
    for_each_isa([&](const Kernels& kernels) {
      std::vector<float> found = alpha;  // In place.
      kernels.floats.decay(found.data(), a.data(), dt.data(), found.data(), static_cast<int>(heads));
      expect_same_bits(found, wanted);
      for (const float x : found) EXPECT_TRUE(x >= 0 && x <= 1);
      EXPECT_EQ(found[0], 0.0f);
    });
  }
}

TEST(Gate, MultipliesByTheFunctionOfTheGate) {
  float (*const rules[])(float) = {rule::sigmoid, rule::silu, [](float x) { return x; }};
  for (const std::size_t width : {1, 16, 37, 128}) {
    const std::vector<float> x = random_floats(width, 1), gate = random_floats(width, 2, 10);
    for (int function = 0; function < 3; ++function) {
      std::vector<float> wanted(width);
      for (std::size_t i = 0; i < width; ++i) wanted[i] = rules[function](gate[i]) * x[i];
      for_each_isa([&](const Kernels& kernels) {
        std::vector<float> found = x;
        kernels.floats.gate[function](gate.data(), found.data(), found.data(), static_cast<int>(width));
        expect_same_bits(found, wanted);
      });
    }
  }
}

// Rows that are not written yet are NaN.
TEST(RecurPairs, AreDotProductsOfTheRuleForEveryTokenAndTheRowsUpToIt) {
  constexpr int kDim = 48, kRow = kDim + 3;
  const std::vector<float> keys = random_floats(16 * kDim, 1), queries = random_floats(16 * kRow, 2);
  const auto row = [](const std::vector<float>& rows, int i, int stride) {
    return std::span(rows).subspan(static_cast<std::size_t>(i * stride), kDim);
  };
  for_each_isa([&](const Kernels& kernels) {
    for (int first = 0; first < 16; ++first) {
      for (int count = 1; first + count <= 16; ++count) {
        std::vector<float> written(16 * kDim, std::numeric_limits<float>::quiet_NaN()), p(256), r(256);
        std::copy_n(keys.begin(), (first + count) * kDim, written.begin());
        kernels.floats.recur_pairs({.q = queries.data() + first * kRow,
                                    .q_stride = kRow,
                                    .k = written.data(),
                                    .key_dim = kDim,
                                    .first = first,
                                    .count = count,
                                    .p = p.data(),
                                    .r = r.data()});
        for (int t = first; t < first + count; ++t) {
          for (int j = 0; j <= t; ++j) {
            const auto at = static_cast<std::size_t>((t - first) * 16 + j);
            if (j < t) {
              ASSERT_PRED2(same_bits, p[at], rule::dot16(row(keys, t, kDim), row(keys, j, kDim)));
            }
            ASSERT_PRED2(same_bits, r[at], rule::dot16(row(queries, t, kRow), row(keys, j, kDim)));
          }
        }
      }
    }
  });
}

}  // namespace
}  // namespace plait
