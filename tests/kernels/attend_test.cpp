// How rows lie in blocks: keys as [dim][16 rows], values as [16 rows][dim], rounded to nearest even.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>
#include <vector>

#include "base/half.h"
#include "support/for_each_isa.h"
#include "support/numbers.h"

namespace plait {
namespace {

enum { kF32, kF16, kBF16 };

// Element `i` of a block of that type, as a float.
float element(const std::vector<std::byte>& block, int type, std::size_t i) {
  if (type == kF32) {
    float value;
    std::memcpy(&value, block.data() + 4 * i, 4);
    return value;
  }
  std::uint16_t bits;
  std::memcpy(&bits, block.data() + 2 * i, 2);
  return type == kF16 ? f16_to_float(bits) : bf16_to_float(bits);
}

float rounded(int type, float value) {
  if (type == kF32) return value;
  return type == kF16 ? f16_to_float(float_to_f16(value)) : bf16_to_float(float_to_bf16(value));
}

TEST(AttendRows, LieInBlocksAsTheirLayoutSaysAndTouchNothingElse) {
  for_each_isa([](const Kernels& kernels) {
    for (int type = 0; type < 3; ++type) {
      for (const int dim : {5, 16, 40, 64}) {
        const std::size_t width = static_cast<std::size_t>(dim), stride = width + 3;
        const std::vector<float> rows = random_floats(6 * stride, 1, 100);
        std::vector<std::byte> keys(16 * width * 4, std::byte{0x55}), values = keys;
        const auto untouched = keys;
        WriteRowsArgs args{.rows = rows.data(),
                           .stride = static_cast<int>(stride),
                           .count = 6,
                           .dim = dim,
                           .block = keys.data(),
                           .first_row = 9};
        kernels.floats.write_keys[type](args);
        args.block = values.data();
        kernels.floats.write_values[type](args);
        for (std::size_t r = 0; r < 16; ++r) {
          for (std::size_t i = 0; i < width; ++i) {
            const bool written = r >= 9 && r < 15;
            const float wanted =
                written ? rounded(type, rows[(r - 9) * stride + i]) : element(untouched, type, r * width + i);
            ASSERT_PRED2(same_bits, element(keys, type, i * 16 + r), wanted);
            ASSERT_PRED2(same_bits, element(values, type, r * width + i), wanted);
          }
        }
      }
    }
  });
}

TEST(AttendRows, RoundToNearestEvenAndKeepWhatIsNotFinite) {
  const std::vector<float> row = {1.00048828125f,  // Half an f16 step above one: to even, one.
                                  1.00146484375f,  // One and a half: to even, two steps.
                                  1.00390625f,     // The same for bf16,
                                  1.01171875f,
                                  std::bit_cast<float>(0x3f817fffu),  // and the last float below one and a half.
                                  std::bit_cast<float>(0x7f800001u),  // A NaN in its lowest bit alone.
                                  65520.0f,
                                  -65519.0f,
                                  1e30f,
                                  0x1p-25f,
                                  0x1.8p-25f,
                                  -0x1p-149f,
                                  std::numeric_limits<float>::infinity(),
                                  std::numeric_limits<float>::quiet_NaN()};
  for_each_isa([&](const Kernels& kernels) {
    for (const int type : {kF16, kBF16}) {
      std::vector<std::byte> block(16 * row.size() * 2);
      kernels.floats.write_values[type]({.rows = row.data(),
                                         .stride = 0,
                                         .count = 1,
                                         .dim = static_cast<int>(row.size()),
                                         .block = block.data(),
                                         .first_row = 0});
      for (std::size_t i = 0; i < row.size(); ++i) {
        EXPECT_PRED2(same_bits, element(block, type, i), rounded(type, row[i])) << row[i];
      }
    }
  });
}

}  // namespace
}  // namespace plait
