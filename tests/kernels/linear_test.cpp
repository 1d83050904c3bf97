// Products of weights and activations of 8, 16 and 32 bits: every format, instruction set and number of tokens, bit for
// bit against the plain loop.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "formats/block.h"
#include "support/for_each_isa.h"
#include "support/linear_case.h"
#include "support/numbers.h"

namespace plait {
namespace {

std::vector<const Format*> computed_formats() {
  std::vector<const Format*> formats;
  for (const Format& format : all_formats()) {
    if (format.info.can_compute) formats.push_back(&format);
  }
  return formats;
}

constexpr int kActivations[] = {8, 16, 32};

std::unique_ptr<Backend> backend_of(const Kernels& kernels, int threads, int activations = 8, int tokens = 64) {
  Result<std::unique_ptr<Backend>> backend =
      make_cpu_backend({.threads = threads, .isa = std::string(kernels.name), .activations = activations});
  EXPECT_TRUE(backend.has_value());
  EXPECT_TRUE((*backend)->reserve(tokens, 2048).has_value());
  return std::move(*backend);
}

std::vector<float> reference_outputs(const ReferenceLinear& w, const std::vector<float>& x) {
  std::vector<float> out;
  for (std::size_t at = 0; at < x.size(); at += static_cast<std::size_t>(w.cols)) {
    const std::vector<float> token = reference_linear(w, x.data() + at);
    out.insert(out.end(), token.begin(), token.end());
  }
  return out;
}

std::vector<float> product(Backend& backend, const LinearCase& w, const std::vector<float>& x) {
  const int tokens = static_cast<int>(x.size()) / w.cols;
  const OwnTensor in(backend, tokens, w.cols, x), out(backend, tokens, w.rows);
  const Projection p{.weight = &w.weight, .out = out.view};
  backend.linear(in.view, {&p, 1});
  return out.values(backend);
}

std::vector<float> random_input(int tokens, int cols, unsigned seed) {
  return random_floats(static_cast<std::size_t>(tokens) * static_cast<std::size_t>(cols), seed);
}

TEST(Linear, EqualsThePlainLoopForEveryFormatAndAnyNumberOfTokens) {
  for (const Format* format : computed_formats()) {
    SCOPED_TRACE(std::string(format->info.name));
    LinearCase w(*format, 80, std::max(96, 2 * format->info.block_values), 1);
    const std::vector<float> x = random_input(64, w.cols, 2);
    for (const int activations : kActivations) {
      SCOPED_TRACE(activations);
      const std::vector<float> wanted = reference_outputs(w.reference(activations), x);
      for_each_isa([&](const Kernels& kernels) {
        const auto backend = backend_of(kernels, 1, activations);
        w.load(*backend);
        for (int tokens : {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 16, 17, 33, 64}) {
          const std::size_t count = static_cast<std::size_t>(tokens);
          const std::vector<float> part(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(count) * w.cols);
          expect_same_bits(product(*backend, w, part), std::span(wanted).first(count * 80));
          if (HasFatalFailure()) return;
        }
      });
    }
  }
}

// Many tokens, over several panels of weights, and over more tokens than a panel takes at once.
TEST(Linear, EqualsThePlainLoopForManyTokens) {
  for (const Format* format : computed_formats()) {
    if (format->info.is_float || format->info.block_values == 32) continue;
    SCOPED_TRACE(std::string(format->info.name));
    const bool all = format->info.name == "q4_k" || format->info.name == "q6_k";
    const int tokens = all ? kPanelTokens + 6 : 131;
    const bool two_bits = format->info.name == "q2_0" || format->info.name == "q2_g128";
    LinearCase w(*format, all ? 33 : 112, 768, 17);
    const std::vector<float> x = random_input(tokens, w.cols, 18);
    for (const int activations : {16, 32}) {
      if (!all) continue;
      const std::vector<float> finer = reference_outputs(w.reference(activations), x);
      for_each_isa([&](const Kernels& kernels) {
        const auto backend = backend_of(kernels, 1, activations, tokens);
        w.load(*backend);
        expect_same_bits(product(*backend, w, x), finer);
      });
    }
    const std::vector<float> wanted = reference_outputs(w.reference(), x);
    for_each_isa([&](const Kernels& kernels) {
      const auto backend = backend_of(kernels, 1, 8, tokens);
      w.load(*backend);
      expect_same_bits(product(*backend, w, x), wanted);
      const auto kernel = std::find_if(kernels.linear.begin(), kernels.linear.end(), [&](const LinearKernel& k) {
        return k.run != nullptr && k.gguf_type == format->info.gguf_type;
      });
      if (kernels.name != "scalar" && kernel != kernels.linear.end()) {
        EXPECT_EQ(tokens >= kernel->panel_from, !two_bits) << "two bits need no panel";
      }
    });
  }
}

TEST(Linear, EqualsThePlainLoopForAnyNumberOfRowsAndThreads) {
  for (const Format* format : computed_formats()) {
    SCOPED_TRACE(std::string(format->info.name));
    for (int rows : {1, 15, 16, 17, 31, 33, 48, 200}) {
      LinearCase w(*format, rows, 3 * format->info.block_values, static_cast<unsigned>(rows));
      const std::vector<float> x = random_input(5, w.cols, 3);
      for (const int activations : kActivations) {
        SCOPED_TRACE(activations);
        const std::vector<float> wanted = reference_outputs(w.reference(activations), x);
        for_each_isa([&](const Kernels& kernels) {
          for (int threads : {1, 2, 5}) {
            const auto backend = backend_of(kernels, threads, activations);
            w.load(*backend);
            expect_same_bits(product(*backend, w, x), wanted);
            if (HasFatalFailure()) return;
          }
        });
      }
    }
  }
}

TEST(Linear, TakesFloatWeightsOfAnyLength) {
  for (const char* name : {"f32", "f16", "bf16"}) {
    for (int cols : {1, 31, 255, 256, 257, 700}) {
      LinearCase w(*find_format(name), 33, cols, 5, true);
      const std::vector<float> x = random_input(11, cols, 6);
      for_each_isa([&](const Kernels& kernels) {
        const auto backend = backend_of(kernels, 2);
        w.load(*backend);
        expect_same_bits(product(*backend, w, x), reference_outputs(w.reference(), x));
      });
    }
  }
}

// Rows that end within a block: what lies behind the end is random.
TEST(Linear, TakesBlocksOf32ThatEndEarly) {
  for (const char* name : {"int8_row", "int4_32", "fp4_16"}) {
    const Format& format = *find_format(name);
    for (int cols : {1, 15, 16, 17, 31, 33, 63, 100}) {
      SCOPED_TRACE(fmt::format("{}, {} columns", name, cols));
      LinearCase w(format, 33, cols, 22);
      const std::vector<float> x = random_input(11, cols, 23);
      std::vector<float> last_row(static_cast<std::size_t>(cols));
      format.decode(w.bytes.data() + w.bytes.size() / 33 * 32, cols, last_row.data());
      for (const int activations : kActivations) {
        const std::vector<float> wanted = reference_outputs(w.reference(activations), x);
        for_each_isa([&](const Kernels& kernels) {
          const auto backend = backend_of(kernels, 2, activations);
          w.load(*backend);
          expect_same_bits(product(*backend, w, x), wanted);
          const OwnTensor row(*backend, 1, cols);
          backend->embed(std::vector<Token>{32}, w.weight, 1.0f, row.view);
          expect_same_bits(row.values(*backend), last_row);
        });
      }
    }
  }
}

// Blocks of 64 and of 128 with the same scales and codes: known sums, and the same bits.
TEST(Linear, OfTwoBitsGivesKnownSumsAndTheSameBitsForBothBlockSizes) {
  const std::pair<int, float> kSums[] = {
      {0x00, -1}, {0x55, 0}, {0xaa, 1}, {0xff, 2}};  // All codes equal; of one value.
  for (const auto& [codes, each] : kSums) {
    LinearCase w(*find_format("q2_0"), 48, 128, 24), wide(*find_format("q2_g128"), 48, 128, 25);
    std::fill(w.bytes.begin(), w.bytes.end(), static_cast<std::byte>(codes));
    std::fill(wide.bytes.begin(), wide.bytes.end(), static_cast<std::byte>(codes));
    for (std::size_t row = 0; row < 48; ++row) {
      for (const std::size_t at : {row * 36, row * 36 + 18}) put_u16(&w.bytes[at], 0x3c00);
      put_u16(&wide.bytes[row * 34], 0x3c00);
    }
    std::vector<float> x(128, 0.0f), zeros(128, 0.0f);
    std::fill_n(x.begin(), 64, 1.0f);
    for_each_isa([&](const Kernels& kernels) {
      const auto backend = backend_of(kernels, 1);
      w.load(*backend);
      wide.load(*backend);
      for (const float found : product(*backend, w, x)) EXPECT_FLOAT_EQ(found, 64 * each);
      expect_same_bits(product(*backend, wide, x), product(*backend, w, x));
      for (const float found : product(*backend, w, zeros)) EXPECT_EQ(found, 0.0f);
    });
  }
}

TEST(Linear, GivesSeveralProjectionsWhatEachGetsAlone) {
  const char* kNames[] = {"q4_k", "q6_k", "q4_k", "q8_0", "f16", "iq2_s", "f32"};
  const auto expect_alone = [&](const Kernels& kernels, int activations) {
    const auto backend = backend_of(kernels, 3, activations);
    const std::vector<float> x = random_input(7, 512, 8);
    const OwnTensor in(*backend, 7, 512, x);
    std::vector<LinearCase> weights;
    std::vector<OwnTensor> outs;
    std::vector<Projection> projections;
    weights.reserve(std::size(kNames));
    for (const char* name : kNames) {
      const int rows = name == std::string("f32") ? 1 : 40;
      weights.emplace_back(*find_format(name), rows, 512, 9, true);
      weights.back().load(*backend);
      outs.emplace_back(*backend, 7, rows);
      projections.push_back({.weight = &weights.back().weight, .out = outs.back().view});
    }
    backend->linear(in.view, projections);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      expect_same_bits(outs[i].values(*backend), reference_outputs(weights[i].reference(activations), x));
    }
  };
  for_each_isa([&](const Kernels& kernels) {
    for (const int activations : kActivations) expect_alone(kernels, activations);
  });
}

TEST(Linear, AppliesTheTensorsScaleThenTheBias) {
  const auto expect_applied = [&](const Kernels& kernels, int activations) {
    const auto backend = backend_of(kernels, 2, activations);
    LinearCase w(*find_format("q4_0"), 50, 64, 10), bias(*find_format("f32"), 1, 50, 11, true);
    w.load(*backend);
    bias.load(*backend);
    const std::vector<float> x = random_input(3, 64, 12);
    const OwnTensor in(*backend, 3, 64, x), out(*backend, 3, 50);
    const Projection p{.weight = &w.weight, .bias = &bias.weight, .tensor_scale = 0.3f, .out = out.view};
    backend->linear(in.view, {&p, 1});
    ReferenceLinear reference = w.reference(activations);
    reference.tensor_scale = 0.3f;
    reference.bias = reinterpret_cast<const float*>(bias.bytes.data());
    expect_same_bits(out.values(*backend), reference_outputs(reference, x));
  };
  for_each_isa([&](const Kernels& kernels) {
    for (const int activations : kActivations) expect_applied(kernels, activations);
  });
}

TEST(Linear, PoisonsOnlyTheTokenThatHasANan) {
  for (const char* name : {"q4_0", "q4_k", "q6_k", "iq3_s", "f16"}) {
    LinearCase w(*find_format(name), 40, 512, 13, true);
    std::vector<float> x = random_input(7, 512, 14);
    x[3 * 512 + 77] = std::numeric_limits<float>::infinity();
    for (const int activations : kActivations) {
      const std::vector<float> wanted = reference_outputs(w.reference(activations), x);
      for_each_isa([&](const Kernels& kernels) {
        const auto backend = backend_of(kernels, 2, activations);
        w.load(*backend);
        const std::vector<float> found = product(*backend, w, x);
        if (!w.format->info.is_float && activations != 32) {
          for (std::size_t i = 3 * 40; i < 4 * 40; ++i) EXPECT_TRUE(std::isnan(found[i]));
        }
        expect_same_bits(found, wanted);
      });
    }
  }
}

// All codes at one end, or alternating, against activations at theirs: what a sum of 16 bits could not hold.
TEST(Linear, NeverSaturates) {
  for (const Format* format : computed_formats()) {
    if (format->info.is_float) continue;
    SCOPED_TRACE(std::string(format->info.name));
    for (int pattern : {0x00, 0xff, 0x0f, 0xf0, 0x80, 0x7f, 0x08, 0x88}) {
      LinearCase w(*format, 17, format->info.block_values, 15, true);
      // The codes are overwritten; a scale that becomes infinite or NaN is part of the test, but says little.
      for (std::size_t i = 0; i < w.bytes.size(); ++i) {
        if (i % static_cast<std::size_t>(format->info.block_bytes) >= 20) w.bytes[i] = static_cast<std::byte>(pattern);
      }
      for (int sign = 0; sign < 3; ++sign) {
        std::vector<float> x(static_cast<std::size_t>(w.cols));
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = sign == 0 || (sign == 2 && i % 3 == 0) ? 127.0f : -127.0f;
        for (const int activations : {8, 16}) {
          const std::vector<float> wanted = reference_outputs(w.reference(activations), x);
          for_each_isa([&](const Kernels& kernels) {
            const auto backend = backend_of(kernels, 1, activations);
            w.load(*backend);
            expect_same_bits(product(*backend, w, x), wanted);
          });
        }
      }
    }
  }
}

TEST(Linear, StaysWithinTheDerivedErrorBounds) {
  for (const Format* format : computed_formats()) {
    SCOPED_TRACE(std::string(format->info.name));
    LinearCase w(*format, 32, 4 * std::max(256, format->info.block_values), 16, true);
    std::vector<float> x = random_input(2, w.cols, 17);
    for (std::size_t i = 1; i < static_cast<std::size_t>(w.cols); i += 2) x[i] = -x[i - 1];  // The first one cancels.
    for (int i = 0; i < 6; ++i) {
      const float* at = x.data() + static_cast<std::ptrdiff_t>(i % 2) * w.cols;
      const ReferenceLinear reference = w.reference(kActivations[i / 2]);
      const std::vector<float> found = reference_linear(reference, at);
      const std::vector<BoundedOutput> bounds = reference_linear_bounds(reference, at);
      for (std::size_t row = 0; row < found.size(); ++row) {
        EXPECT_LE(std::abs(found[row] - bounds[row].exact), bounds[row].bound) << "row " << row;
        EXPECT_LE(std::abs(found[row] - bounds[row].from_floats), bounds[row].from_floats_bound) << "row " << row;
      }
    }
  }
}

TEST(Embed, GivesTheFormatsOwnDecodingBitForBit) {
  for (const Format* format : computed_formats()) {
    SCOPED_TRACE(std::string(format->info.name));
    LinearCase table(*format, 70, 2 * format->info.block_values, 18);
    std::vector<Token> tokens{0, 69, 15, 16, 17, 31, 32, 33, 5, 5};
    const int count = static_cast<int>(tokens.size());
    std::vector<float> wanted(tokens.size() * static_cast<std::size_t>(table.cols));
    const std::size_t row_bytes = table.bytes.size() / 70;
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      format->decode(table.bytes.data() + static_cast<std::size_t>(tokens[t]) * row_bytes, table.cols,
                     wanted.data() + t * static_cast<std::size_t>(table.cols));
    }
    for_each_isa([&](const Kernels& kernels) {
      const auto backend = backend_of(kernels, 2);
      table.load(*backend);
      const OwnTensor out(*backend, count, table.cols);
      backend->embed(tokens, table.weight, 1.0f, out.view);
      expect_same_bits(out.values(*backend), wanted);
    });
  }
}

TEST(Glu, EqualsItsTwoProductsAndTheActivation) {
  const char* kPairs[][2] = {
      {"q4_1", "q4_1"}, {"q4_k", "q6_k"}, {"f16", "q4_0"}, {"iq2_xs", "iq2_xs"}, {"q8_0", "f32"}};
  for (const auto& names : kPairs) {
    LinearCase gate(*find_format(names[0]), 72, 256, 19, true), up(*find_format(names[1]), 72, 256, 20, true);
    for (const auto& [tokens, activations] :
         {std::pair{1, 8}, {5, 8}, {130, 8}, {1, 16}, {130, 16}, {1, 32}, {130, 32}}) {
      const std::vector<float> x = random_input(tokens, 256, 21);
      const std::vector<float> a = reference_outputs(gate.reference(activations), x);
      const std::vector<float> b = reference_outputs(up.reference(activations), x);
      for_each_isa([&, tokens = tokens, activations = activations](const Kernels& kernels) {
        std::vector<float> wanted(a.size());
        kernels.floats.glu[0](a.data(), b.data(), wanted.data(), static_cast<int>(a.size()));
        const auto backend = backend_of(kernels, 2, activations, 130);
        gate.load(*backend);
        up.load(*backend);
        const OwnTensor in(*backend, tokens, 256, x), out(*backend, tokens, 72);
        backend->glu({.x = in.view,
                      .gate = {.weight = &gate.weight, .out = {}},
                      .up = {.weight = &up.weight, .out = {}},
                      .out = out.view});
        expect_same_bits(out.values(*backend), wanted);
      });
    }
  }
}

TEST(CpuBackend, RefusesActivationsOfOtherBits) {
  for (const int activations : {0, 4, 12, 64, -8}) {
    const auto backend = make_cpu_backend({.threads = 1, .isa = {}, .activations = activations});
    ASSERT_FALSE(backend);
    EXPECT_EQ(backend.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(backend.error().message,
              "activations are to have " + std::to_string(activations) + " bits, 8, 16 or 32 are possible");
  }
}

TEST(CpuBackend, SaysBeforehandWhatItsScratchMemoryTakes) {
  const Kernels& kernels = *all_isas().back().kernels;
  const auto bytes = [&](int activations) { return backend_of(kernels, 3, activations)->reserve_bytes(64, 512); };
  constexpr std::size_t kGroup = 64, kTokens = 64, kWorkers = 3;
  constexpr std::size_t kOutputs = kTokens * kPanelRows * 4;  // Each worker's own of a gated feed-forward.
  constexpr std::size_t kCodes = 512 / 32 * (1024 + 512);  // A pair of 32 rows as codes of eight bits, scales and mins.
  constexpr std::size_t kFloats = std::size_t{512} * 32 * 4;
  EXPECT_EQ(bytes(8), kTokens * 17 * kGroup + kWorkers * (kPanelScratchBytes + kCodes + kOutputs));
  EXPECT_EQ(bytes(16), kTokens * 33 * kGroup + kWorkers * (kPanelScratchBytes + kCodes + kOutputs));
  EXPECT_EQ(bytes(32), kWorkers * (kPanelScratchBytes + kFloats + kOutputs));
}

TEST(CpuBackend, TakesNoMoreForPackedWeightsThanTheFileHas) {
  const auto backend = backend_of(*all_isas().back().kernels, 1);
  for (const Format* format : computed_formats()) {
    const std::size_t bytes = backend->weight_bytes(*format, 64, 512);
    const std::size_t file = std::size_t{64} * 512 / static_cast<std::size_t>(format->info.block_values) *
                             static_cast<std::size_t>(format->info.block_bytes);
    EXPECT_LE(bytes, file + 2 * 63) << format->info.name;
  }
}

}  // namespace
}  // namespace plait
