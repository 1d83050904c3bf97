// Norm, rotation, sums and copies through a CPU backend: the bits of their rules for any instruction set and threads.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "backend/backend.h"
#include "backend/cpu/float_ops.h"
#include "base/thread_pool.h"
#include "support/float_reference.h"
#include "support/flush_to_zero.h"
#include "support/for_each_isa.h"
#include "support/numbers.h"

namespace plait {
namespace {

// Activations with a gap after each row, which must stay as it is.
struct Rows {
  Rows(Backend& backend, int rows, int cols, unsigned seed)
      : buffer(backend.allocate(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols + kGap) * 4).value()),
        tensor{buffer.get(), 0, rows, cols, cols + kGap} {
    const std::vector<float> all = random_floats(buffer->bytes() / 4, seed);
    std::memcpy(buffer->host(), all.data(), buffer->bytes());
    for (int row = 0; row < rows; ++row) {
      for (int i = cols; i < cols + kGap; ++i) tensor.host().row(row)[i] = 9.0f;
    }
  }
  std::vector<float> row(int i) const {
    const std::span<float> values = tensor.host()[i];
    return {values.begin(), values.end()};
  }
  bool gaps_are_whole() const {
    for (int row = 0; row < tensor.rows; ++row) {
      for (int i = tensor.cols; i < tensor.stride; ++i) {
        if (tensor.host().row(row)[i] != 9.0f) return false;
      }
    }
    return true;
  }

  static constexpr int kGap = 5;
  std::unique_ptr<Buffer> buffer;
  Tensor tensor;
};

// Small shapes, which the caller does alone, and one that is shared out.
struct Shape {
  int rows, heads, width;
};
constexpr Shape kShapes[] = {{1, 1, 576}, {3, 9, 64}, {2, 2, 21}, {70, 9, 64}};

template <class Body>
void for_each_backend(const Body& body) {
  for_each_isa([&](const Kernels& kernels) {
    for (const int threads : {1, 3}) {
      SCOPED_TRACE(threads);
      const auto backend = make_cpu_backend({.threads = threads, .isa = std::string(kernels.name)});
      ASSERT_TRUE(backend.has_value());
      body(**backend);
    }
  });
}

TEST(FloatOps, NormOfRowsAndOfHeadsFollowsItsRule) {
  for_each_backend([](Backend& backend) {
    for (const Shape& shape : kShapes) {
      Rows x(backend, shape.rows, shape.heads * shape.width, 1), out(backend, shape.rows, shape.heads * shape.width, 2);
      Rows w(backend, 1, shape.width, 3);
      const Weight weight{.rows = 1, .cols = shape.width, .buffer = w.buffer.get()};
      backend.norm({.x = x.tensor, .weight = &weight, .eps = 1e-6f, .width = shape.width, .out = out.tensor});
      for (int t = 0; t < shape.rows; ++t) {
        const std::vector<float> row = x.row(t), found = out.row(t);
        for (std::size_t h = 0; h < static_cast<std::size_t>(shape.heads); ++h) {
          const std::size_t n = static_cast<std::size_t>(shape.width);
          expect_same_bits(std::span(found).subspan(h * n, n),
                           rule::rms_norm(std::span(row).subspan(h * n, n), w.row(0), 1e-6f));
        }
      }
      EXPECT_TRUE(out.gaps_are_whole());
    }
  });
}

TEST(FloatOps, RotationTurnsEveryHeadByItsTokensAngles) {
  for_each_backend([](Backend& backend) {
    for (const Shape& shape : kShapes) {
      for (const RopePairs pairs : {RopePairs::kNeighbours, RopePairs::kHalves}) {
        Rows x(backend, shape.rows, shape.heads * shape.width, 1);
        const int rotated = shape.width / 2 * 2;
        Rows table(backend, shape.rows, rotated, 2);
        std::vector<std::vector<float>> wanted;
        const std::size_t half = static_cast<std::size_t>(rotated / 2);
        for (int t = 0; t < shape.rows; ++t) {
          std::vector<float> row = x.row(t);
          const std::vector<float> angles = table.row(t);
          for (int h = 0; h < shape.heads; ++h) {
            float* const head = row.data() + h * shape.width;
            for (std::size_t i = 0; i < half; ++i) {
              float* const a = pairs == RopePairs::kHalves ? head + i : head + 2 * i;
              float* const b = pairs == RopePairs::kHalves ? head + half + i : head + 2 * i + 1;
              rule::rotate(*a, *b, angles[i], angles[half + i]);
            }
          }
          wanted.push_back(row);
        }
        backend.rope(
            {.x = x.tensor, .table = table.tensor, .head_dim = shape.width, .rotated = rotated, .pairs = pairs});
        for (int t = 0; t < shape.rows; ++t) expect_same_bits(x.row(t), wanted[static_cast<std::size_t>(t)]);
        EXPECT_TRUE(x.gaps_are_whole());
      }
    }
  });
}

TEST(FloatOps, AddGatherReadAndWriteAreExact) {
  for_each_backend([](Backend& backend) {
    for (const Shape& shape : kShapes) {
      const int cols = shape.heads * shape.width;
      Rows x(backend, shape.rows, cols, 1), y(backend, shape.rows, cols, 2), picked(backend, 2, cols, 3);
      const std::vector<float> before = x.row(shape.rows - 1);
      backend.add(x.tensor, y.tensor);
      const std::vector<float> sum = x.row(shape.rows - 1), term = y.row(shape.rows - 1);
      for (std::size_t i = 0; i < before.size(); ++i) ASSERT_PRED2(same_bits, sum[i], before[i] + term[i]);
      backend.gather_rows(x.tensor, std::vector<int>{shape.rows - 1, 0}, picked.tensor);
      expect_same_bits(picked.row(0), x.row(shape.rows - 1));
      expect_same_bits(picked.row(1), x.row(0));
      std::vector<float> numbers(static_cast<std::size_t>(2 * cols));
      backend.read(picked.tensor, numbers);
      expect_same_bits(std::span(numbers).first(static_cast<std::size_t>(cols)), x.row(shape.rows - 1));
      for (float& number : numbers) number = -number;
      backend.write(numbers, picked.tensor);
      expect_same_bits(picked.row(1), std::span(numbers).subspan(static_cast<std::size_t>(cols)));
      EXPECT_TRUE(x.gaps_are_whole() && picked.gaps_are_whole());
    }
  });
}

TEST(FloatOps, ActivationsMultiplyInPlace) {
  for_each_isa([](const Kernels& kernels) {
    const auto backend = make_cpu_backend({.threads = 1, .isa = std::string(kernels.name)});
    ThreadPool pool(2);
    float (*const rules[])(float) = {rule::silu, rule::gelu_tanh, rule::relu2};
    for (const Activation activation : {Activation::kSilu, Activation::kGeluTanh, Activation::kRelu2}) {
      Rows gate(**backend, 40, 1000, 1), up(**backend, 40, 1000, 2);
      std::vector<float> wanted = gate.row(39);
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        wanted[i] = rules[static_cast<int>(activation)](wanted[i]) * up.row(39)[i];
      }
      activate(activation, gate.tensor, up.tensor, gate.tensor, {kernels.floats, pool});
      expect_same_bits(gate.row(39), wanted);
      EXPECT_TRUE(gate.gaps_are_whole());
    }
  });
}

TEST(FloatOps, ACallersFlushToZeroChangesNothing) {
  for_each_backend([](Backend& backend) {
    for (const Shape& shape : kShapes) {
      Rows x(backend, shape.rows, shape.heads * shape.width, 1), y(backend, shape.rows, shape.heads * shape.width, 2);
      const int last = shape.rows - 1;
      x.tensor.host().row(last)[0] = 0x1p-130f;
      y.tensor.host().row(last)[0] = 0x1p-131f;
      set_flush_to_zero(true);
      if (!flushes_to_zero()) GTEST_SKIP() << "how to flush to zero on this machine is not known";
      backend.add(x.tensor, y.tensor);
      const bool after = flushes_to_zero();
      set_flush_to_zero(false);
      EXPECT_TRUE(after);
      EXPECT_TRUE(same_bits(x.tensor.host().row(last)[0], 0x1.8p-130f));
    }
  });
}

}  // namespace
}  // namespace plait
