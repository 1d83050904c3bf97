// Mixture of experts through a CPU backend: the bits of the rule for any instruction set, threads and company.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <string>

#include "backend/backend.h"
#include "support/experts_reference.h"
#include "support/for_each_isa.h"
#include "support/linear_case.h"
#include "support/numbers.h"

namespace plait {
namespace {

struct LayerShape {
  const char *gate = "q8_0", *up = "q8_0", *down = "q8_0";
  int dim = 64, hidden = 64;
  Routing routing{.experts = 8, .used = 3};
  bool bias = false, shared = false, shared_gate = false, scales = false;
};

constexpr int kMostTokens = 128;

// One matrix for each expert, and the stack of them in a backend's memory.
struct Stack {
  std::vector<LinearCase> matrices;
  std::vector<float> scales;
  std::unique_ptr<Buffer> memory, scale_memory;
  Weight weight, scale;

  Stack(const char* format, int experts, int rows, int cols, unsigned seed) {
    for (int i = 0; i < experts; ++i)
      matrices.emplace_back(*find_format(format), rows, cols, seed + static_cast<unsigned>(i), true);
  }
  ExpertStack load(Backend& backend) {
    const LinearCase& first = matrices.front();
    const std::size_t bytes = backend.weight_bytes(*first.format, first.rows, first.cols);
    memory = std::move(*backend.allocate(bytes * matrices.size()));
    std::size_t offset = 0;
    for (const LinearCase& matrix : matrices) {
      RawTensor raw{.name = "w",
                    .format = matrix.format,
                    .dimensions = 2,
                    .data = matrix.bytes.data(),
                    .bytes = matrix.bytes.size()};
      raw.extents = {matrix.cols, matrix.rows, 1, 1};
      weight = backend.load(raw, *memory, offset);
      offset += bytes;
    }
    weight.offset = 0;
    weight.bytes = offset;
    weight.experts = static_cast<int>(matrices.size());
    if (scales.empty()) return {&weight, nullptr};
    scale_memory = std::move(*backend.allocate(scales.size() * sizeof(float)));
    std::copy(scales.begin(), scales.end(), reinterpret_cast<float*>(scale_memory->host()));
    scale = {.rows = 1, .cols = weight.experts, .buffer = scale_memory.get()};
    return {&weight, &scale};
  }
  std::vector<ReferenceLinear> reference(int activations) const {
    std::vector<ReferenceLinear> out;
    for (const LinearCase& matrix : matrices) {
      out.push_back(matrix.reference(activations));
      if (!scales.empty()) out.back().tensor_scale = scales[out.size() - 1];
    }
    return out;
  }
};

struct Inputs {
  int tokens;
  std::vector<float> x, logits, shared, shared_gate;

  // Of some tokens alone.
  Inputs slice(int begin, int count) const {
    const auto part = [&](const std::vector<float>& rows) {
      const std::ptrdiff_t width = static_cast<std::ptrdiff_t>(rows.size()) / tokens;
      return std::vector<float>(rows.begin() + begin * width, rows.begin() + (begin + count) * width);
    };
    return {count, part(x), part(logits), part(shared), part(shared_gate)};
  }
};

// A layer with random numbers, loaded into one backend at a time.
class Layer {
 public:
  explicit Layer(const LayerShape& shape, unsigned seed = 1)
      : shape_(shape),
        gate_(shape.gate, shape.routing.experts, shape.hidden, shape.dim, 100 * seed),
        up_(shape.up, shape.routing.experts, shape.hidden, shape.dim, 200 * seed),
        down_(shape.down, shape.routing.experts, shape.dim, shape.hidden, 300 * seed) {
    const auto experts = static_cast<std::size_t>(shape.routing.experts);
    if (shape.bias) bias_ = random_floats(experts, 400 * seed, 0.3f);
    if (shape.scales) {
      gate_.scales = random_floats(experts, 500 * seed);
      up_.scales = random_floats(experts, 600 * seed);
      down_.scales = random_floats(experts, 700 * seed);
    }
  }

  void load(const Kernels& kernels, int threads, int activations = 8) {
    Result<std::unique_ptr<Backend>> made =
        make_cpu_backend({.threads = threads, .isa = std::string(kernels.name), .activations = activations});
    ASSERT_TRUE(made);
    backend_ = std::move(*made);
    ASSERT_TRUE(backend_->reserve(kMostTokens, std::max(shape_.dim, shape_.hidden)));
    ASSERT_TRUE(backend_->reserve_experts(kMostTokens, shape_.routing, shape_.hidden));
    args_.routing = shape_.routing;
    if (shape_.bias) {
      bias_memory_ = std::move(*backend_->allocate(bias_.size() * sizeof(float)));
      std::copy(bias_.begin(), bias_.end(), reinterpret_cast<float*>(bias_memory_->host()));
      bias_weight_ = {.rows = 1, .cols = shape_.routing.experts, .buffer = bias_memory_.get()};
      args_.routing.bias = &bias_weight_;
    }
    args_.gate = gate_.load(*backend_);
    args_.up = up_.load(*backend_);
    args_.down = down_.load(*backend_);
  }

  Inputs inputs(int tokens, unsigned seed) const {
    const auto count = static_cast<std::size_t>(tokens);
    Inputs in{tokens,
              random_floats(count * static_cast<std::size_t>(shape_.dim), seed),
              random_floats(count * static_cast<std::size_t>(shape_.routing.experts), seed + 1),
              {},
              {}};
    if (shape_.shared) in.shared = random_floats(in.x.size(), seed + 2);
    if (shape_.shared_gate) in.shared_gate = random_floats(count, seed + 3);
    return in;
  }

  std::vector<float> run(const Inputs& in, std::span<std::atomic<std::uint64_t>> counts = {}) {
    const int rows = in.tokens * shape_.routing.used;
    Backend& backend = *backend_;
    const OwnTensor x(backend, in.tokens, shape_.dim, in.x);
    const OwnTensor logits(backend, in.tokens, shape_.routing.experts, in.logits);
    const OwnTensor hidden(backend, rows, shape_.hidden), products(backend, rows, shape_.dim);
    const OwnTensor shared(backend, in.tokens, shape_.dim), shared_gate(backend, in.tokens, 1);
    const OwnTensor out(backend, in.tokens, shape_.dim);
    ExpertArgs args = args_;
    args.x = x.view;
    args.logits = logits.view;
    args.hidden = hidden.view;
    args.products = products.view;
    args.out = out.view;
    args.counts = counts;
    if (shape_.shared) {
      backend.write(in.shared, shared.view);
      args.shared = shared.view;
    }
    if (shape_.shared_gate) {
      backend.write(in.shared_gate, shared_gate.view);
      args.shared_gate = shared_gate.view;
    }
    backend.experts(args);
    return out.values(backend);
  }

  ReferenceExperts reference(int activations = 8) const {
    return {shape_.routing, bias_, gate_.reference(activations), up_.reference(activations),
            down_.reference(activations)};
  }
  ReferenceToken token(const Inputs& in, int t) const {
    const auto row = [&](const std::vector<float>& rows) {
      const std::size_t width = rows.size() / static_cast<std::size_t>(in.tokens);
      return std::span<const float>(rows).subspan(static_cast<std::size_t>(t) * width, width);
    };
    return {row(in.x), row(in.logits), row(in.shared),
            in.shared_gate.empty() ? nullptr : &in.shared_gate[static_cast<std::size_t>(t)]};
  }
  std::vector<float> wanted(const Inputs& in, int activations) const {
    const ReferenceExperts layer = reference(activations);
    std::vector<float> out;
    for (int t = 0; t < in.tokens; ++t) {
      const std::vector<float> row = reference_experts(layer, token(in, t));
      out.insert(out.end(), row.begin(), row.end());
    }
    return out;
  }
  const LayerShape& shape() const { return shape_; }
  ExpertArgs& args() { return args_; }

 private:
  LayerShape shape_;
  Stack gate_, up_, down_;
  std::vector<float> bias_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Buffer> bias_memory_;
  Weight bias_weight_;
  ExpertArgs args_;
};

// Formats of one and of two scales, with mins, without a packed layout, of floats, and mixed; every kind of router.
std::vector<LayerShape> shapes() {
  Routing few{.experts = 4, .used = 2}, sigmoid{.gating = Gating::kSigmoid, .experts = 16, .used = 4};
  Routing grouped{.gating = Gating::kSigmoid, .experts = 16, .used = 4, .groups = 4, .groups_used = 2, .scale = 2.5f};
  Routing plain{.experts = 8, .used = 8, .normalise = false};
  sigmoid.guard = 1e-6f;
  return {
      {},
      {.gate = "q4_k", .up = "q4_k", .down = "q6_k", .dim = 256, .hidden = 256, .routing = few},
      {.gate = "q4_0", .up = "q6_k", .down = "q4_1", .dim = 256, .hidden = 96, .routing = few, .shared = true},
      {.gate = "iq3_s", .up = "iq3_s", .down = "iq2_xs", .dim = 256, .hidden = 256, .routing = few},
      {.gate = "f32", .up = "q8_0", .down = "f16", .dim = 96, .hidden = 40, .routing = sigmoid, .bias = true},
      {.gate = "bf16",
       .up = "bf16",
       .down = "f32",
       .dim = 70,
       .hidden = 33,
       .routing = grouped,
       .bias = true,
       .shared = true,
       .shared_gate = true},
      {.gate = "mxfp4", .up = "mxfp4", .down = "q5_0", .dim = 64, .hidden = 160, .routing = plain, .scales = true},
  };
}

TEST(Experts, HaveTheBitsOfTheRuleOnEveryInstructionSetAndAnyThreads) {
  for (const LayerShape& shape : shapes()) {
    SCOPED_TRACE(testing::Message() << shape.gate << ", " << shape.up << ", " << shape.down);
    Layer layer(shape);
    const Inputs in = layer.inputs(7, 11);
    for (const int activations : {8, 16, 32}) {
      const std::vector<float> wanted = layer.wanted(in, activations);
      for_each_isa([&](const Kernels& kernels) {
        for (const int threads : {1, 2, 3}) {
          layer.load(kernels, threads, activations);
          expect_same_bits(layer.run(in), wanted);
        }
      });
    }
  }
}

// So many that experts have more rows than a gated feed-forward takes at once.
TEST(Experts, GiveTheSameBitsTogetherAndOneTokenAtATime) {
  for (const LayerShape& shape : shapes()) {
    SCOPED_TRACE(testing::Message() << shape.gate << ", " << shape.up << ", " << shape.down);
    Layer layer(shape);
    Inputs in = layer.inputs(kMostTokens, 21);
    for (int t = 0; t < in.tokens; ++t)  // One is everybody's favourite.
      in.logits[static_cast<std::size_t>(t * shape.routing.experts + 1)] += 9;
    const auto expect_same = [&](const Kernels& kernels, int activations) {
      layer.load(kernels, 2, activations);
      const std::vector<float> together = layer.run(in);
      for (const int chunk : {1, 5, 33}) {
        if (activations != 8 && chunk != 33) continue;  // It is the same path of rows.
        std::vector<float> apart;
        for (int begin = 0; begin < in.tokens; begin += chunk) {
          const std::vector<float> part = layer.run(in.slice(begin, std::min(chunk, in.tokens - begin)));
          apart.insert(apart.end(), part.begin(), part.end());
        }
        expect_same_bits(apart, together);
      }
    };
    for_each_isa([&](const Kernels& kernels) {
      for (const int activations : {8, 16, 32}) expect_same(kernels, activations);
    });
  }
}

TEST(Experts, AreAsExactAsFloatsAllow) {
  constexpr double kNmse = 1e-12;  // Chains of at most 256 roundings of 2^-24 each.
  LayerShape shape{.gate = "f32",
                   .up = "f32",
                   .down = "f32",
                   .dim = 96,
                   .hidden = 64,
                   .bias = true,
                   .shared = true,
                   .shared_gate = true};
  for (const Gating gating : {Gating::kSoftmax, Gating::kSigmoid}) {
    shape.routing = {.gating = gating, .experts = 16, .used = 4, .scale = 1.5f};
    Layer layer(shape, 3);
    const Inputs in = layer.inputs(9, 31);
    const ReferenceExperts reference = layer.reference();
    for_each_isa([&](const Kernels& kernels) {
      layer.load(kernels, 2);
      const std::vector<float> found = layer.run(in);
      double error = 0, size = 0;
      for (int t = 0; t < in.tokens; ++t) {
        const std::vector<double> wanted = exact_experts(reference, layer.token(in, t));
        for (std::size_t i = 0; i < wanted.size(); ++i) {
          error += std::pow(static_cast<double>(found[static_cast<std::size_t>(t) * wanted.size() + i]) - wanted[i], 2);
          size += wanted[i] * wanted[i];
        }
      }
      EXPECT_LE(error, kNmse * size);
    });
  }
}

TEST(Experts, KeepTheirBitsBesideATokenThatIsNoNumber) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const LayerShape& shape : shapes()) {
    Layer layer(shape);
    const Inputs in = layer.inputs(6, 41);
    const auto dim = static_cast<std::size_t>(shape.dim), experts = static_cast<std::size_t>(shape.routing.experts);
    Inputs bad = in;
    bad.x[2 * dim + 5] = nan;  // Token 2 has a bad input,
    std::fill_n(bad.logits.begin() + static_cast<std::ptrdiff_t>(4 * experts), experts, nan);  // token 4 no choice.
    for_each_isa([&](const Kernels& kernels) {
      layer.load(kernels, 2);
      const std::vector<float> wanted = layer.run(in), found = layer.run(bad);
      for (const std::size_t t : {0u, 1u, 3u, 5u})
        expect_same_bits(std::span(found).subspan(t * dim, dim), std::span(wanted).subspan(t * dim, dim));
      for (const std::size_t t : {2u, 4u}) {
        for (std::size_t i = 0; i < dim; ++i) EXPECT_TRUE(std::isnan(found[t * dim + i]));
      }
    });
  }
}

TEST(Experts, AreCountedOnceForEachChoice) {
  Layer layer({});
  const Inputs in = layer.inputs(50, 51);
  const Routing& routing = layer.shape().routing;
  const ReferenceExperts reference = layer.reference();
  std::vector<std::uint64_t> wanted(static_cast<std::size_t>(routing.experts));
  for (int t = 0; t < in.tokens; ++t) {
    for (const int expert : reference_route(routing, layer.token(in, t).logits, {}).experts)
      ++wanted[static_cast<std::size_t>(expert)];
  }
  layer.load(*all_isas().back().kernels, 2);
  std::vector<std::atomic<std::uint64_t>> counts(wanted.size());
  layer.run(in, counts);
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(counts[i].load(), wanted[i]);
  layer.run(in, counts);  // They add up.
  std::uint64_t sum = 0;
  for (const auto& count : counts) sum += count.load();
  EXPECT_EQ(sum, static_cast<std::uint64_t>(2 * in.tokens * routing.used));
}

// Memory whose pages can be closed: who reads them then dies.
class ClosablePages final : public Buffer {
 public:
  static constexpr std::size_t kPage = 4096;
  explicit ClosablePages(std::size_t bytes)
      : bytes_(bytes), memory_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~ClosablePages() override { ::munmap(memory_, bytes_); }
  std::size_t bytes() const override { return bytes_; }
  std::byte* host() override { return static_cast<std::byte*>(memory_); }
  bool close(std::size_t offset, std::size_t bytes) { return ::mprotect(host() + offset, bytes, PROT_NONE) == 0; }

 private:
  std::size_t bytes_;
  void* memory_;
};

TEST(Experts, ThatNobodyChoseAreNotRead) {
  // 32 rows of 512 values of two bytes: a matrix takes whole pages of any usual size up to 32 KiB.
  constexpr int kWide = 512, kRows = 32;
  LayerShape shape{.gate = "f16", .up = "f16", .down = "f16", .dim = kWide, .hidden = kRows};
  shape.routing = {.experts = 6, .used = 2};
  for_each_isa([&](const Kernels& kernels) {
    Layer layer(shape);
    layer.load(kernels, 2);
    Inputs in = layer.inputs(3, 61);
    for (int t = 0; t < in.tokens; ++t) {
      in.logits[static_cast<std::size_t>(t * 6 + 2)] = 20;
      in.logits[static_cast<std::size_t>(t * 6 + 5)] = 19;
    }
    const std::vector<float> wanted = layer.run(in);
    std::vector<std::unique_ptr<ClosablePages>> pages;
    std::vector<Weight> weights;
    weights.reserve(3);
    for (ExpertStack* stack : {&layer.args().gate, &layer.args().up, &layer.args().down}) {
      Weight& weight = weights.emplace_back(*stack->weight);
      pages.push_back(std::make_unique<ClosablePages>(weight.bytes));
      std::copy_n(weight.buffer->host() + weight.offset, weight.bytes, pages.back()->host());
      weight.buffer = pages.back().get();
      weight.offset = 0;
      stack->weight = &weight;
      const std::size_t bytes = weight.bytes / 6;
      ASSERT_EQ(bytes % ClosablePages::kPage, 0u);
      for (const std::size_t expert : {0u, 1u, 3u, 4u}) ASSERT_TRUE(pages.back()->close(expert * bytes, bytes));
    }
    expect_same_bits(layer.run(in), wanted);
  });
}

}  // namespace
}  // namespace plait
