// The small kernels between products: values a second on one thread, by kernel, width and instruction set. What they
// read and write is in the nearest caches.
//
//   float_bench --benchmark_filter='avx512/(rms_norm|quantize).*/1024'
//
// Recurrences are in recur_bench, scores and weighted values in attend_bench, products in linear_bench.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "isa/select.h"
#include "run_benchmarks.h"

namespace plait {
namespace {

constexpr int kMostWidth = 4096;
constexpr int kHead = 64;  // Values of a head that is rotated.
constexpr int kTaps = 4;   // Of a convolution.
constexpr int kUsed = 8;   // Experts that are summed.

std::vector<float> some_floats(int count, std::uint64_t seed) {
  std::vector<float> out(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = 4 * static_cast<float>(random_unit(seed, i)) - 2;
  return out;
}

// What the kernels work on; as wide as the widest.
struct Memory {
  std::vector<float> x = some_floats(kMostWidth, 1), y = some_floats(kMostWidth, 2), out = some_floats(kMostWidth, 3);
  std::vector<float> changed = some_floats(kMostWidth, 4);  // By a kernel that works in place.
  std::vector<float> rows = some_floats(kUsed * kMostWidth, 5), weights = some_floats(kUsed, 6);
  std::vector<float> angles = std::vector<float>(kHead);  // Zeros: what they are does not matter.
  std::vector<std::byte> block = std::vector<std::byte>(kAttendBlock * kMostWidth * sizeof(float));
  std::vector<ActivationGroup> groups = std::vector<ActivationGroup>(activation_stride(kMostWidth, kFinePlanes));
};

// One call for a whole row of `width` values.
using Body = void (*)(const Kernels& kernels, Memory& m, int width);

struct Kernel {
  const char* name;
  Body body;
  int rows = 1;  // Rows of that width that a call takes.
};

template <MapKernel FloatKernels::*kMap>
void map(const Kernels& kernels, Memory& m, int width) {
  (kernels.floats.*kMap)(m.x.data(), m.out.data(), width);
}

template <int kFunction>
void glu(const Kernels& kernels, Memory& m, int width) {
  kernels.floats.glu[kFunction](m.x.data(), m.y.data(), m.out.data(), width);
}

template <int kFunction>
void gate(const Kernels& kernels, Memory& m, int width) {
  kernels.floats.gate[kFunction](m.x.data(), m.y.data(), m.out.data(), width);
}

template <void (*FloatKernels::*kRotate)(float*, const float*, int)>
void rope(const Kernels& kernels, Memory& m, int width) {
  for (int i = 0; i < width; i += kHead) (kernels.floats.*kRotate)(m.changed.data() + i, m.angles.data(), kHead);
}

template <int kSilu>
void conv(const Kernels& kernels, Memory& m, int width) {
  const float* inputs[kTaps];
  for (int i = 0; i < kTaps; ++i) inputs[i] = m.rows.data() + i * width;
  kernels.floats.conv_token[kSilu]({.inputs = inputs,
                                    .taps = m.rows.data() + kTaps * width,
                                    .tap_count = kTaps,
                                    .channels = width,
                                    .out = m.out.data()});
}

template <void (*Kernels::*kQuantize)(const QuantizeArgs&)>
void quantize(const Kernels& kernels, Memory& m, int width) {
  (kernels.*
   kQuantize)({.x = m.x.data(), .x_stride = width, .cols = width, .token_end = 1, .zero = 8, .out = m.groups.data()});
}

// Scores of a context of `width` rows, part by part.
void softmax(const Kernels& kernels, Memory& m, int width) {
  float rescale[kAttendRescales], maximum, sum;
  for (int begin = 0; begin < width; begin += kAttendPart) {
    const int rows = std::min(kAttendPart, width - begin);
    kernels.floats.softmax({.scores = m.changed.data() + begin,
                            .blocks = rows / kAttendBlock,
                            .last = rows,
                            .rescale = rescale,
                            .maximum = &maximum,
                            .sum = &sum});
  }
}

void combine(const Kernels& kernels, Memory& m, int width) {
  static constexpr int kChosen[kUsed] = {3, 1, 4, 0, 5, 2, 6, 7};
  kernels.floats.combine({.rows = m.rows.data(),
                          .stride = width,
                          .chosen = kChosen,
                          .weights = m.weights.data(),
                          .count = kUsed,
                          .out = m.out.data(),
                          .width = width});
}

void decay(const Kernels& kernels, Memory& m, int width) {
  kernels.floats.decay(m.x.data(), m.y.data(), m.rows.data(), m.out.data(), width);
}

void merge(const Kernels& kernels, Memory& m, int width) {
  AttendShare all{1, 1, m.changed.data()};
  kernels.floats.merge(all, {1, 0, m.y.data()}, width);
}

// Rows of keys or values, from f32 to a block.
template <void (*(FloatKernels::*kWrite)[3])(const WriteRowsArgs&), int kType>
void write_rows(const Kernels& kernels, Memory& m, int width) {
  (kernels.floats.*
   kWrite)[kType]({.rows = m.rows.data(), .stride = 0, .count = kAttendBlock, .dim = width, .block = m.block.data()});
}

constexpr Kernel kKernels[] = {
    {"dot16", [](const Kernels& k, Memory& m, int n) { m.out[0] = k.floats.dot16(m.x.data(), m.y.data(), n); }},
    {"sum16", [](const Kernels& k, Memory& m, int n) { m.out[0] = k.floats.sum16(m.x.data(), n); }},
    {"add", [](const Kernels& k, Memory& m, int n) { k.floats.add(m.x.data(), m.y.data(), m.out.data(), n); }},
    {"scale", [](const Kernels& k, Memory& m, int n) { k.floats.scale(m.x.data(), 0.5f, m.out.data(), n); }},
    {"rms_norm",
     [](const Kernels& k, Memory& m, int n) { k.floats.rms_norm(m.x.data(), m.y.data(), 1e-6f, m.out.data(), n); }},
    {"l2_norm", [](const Kernels& k, Memory& m, int n) { k.floats.l2_norm(m.changed.data(), 0.5f, n); }},
    {"rope_halves", rope<&FloatKernels::rope_halves>},
    {"rope_neighbours", rope<&FloatKernels::rope_neighbours>},
    {"exp", map<&FloatKernels::exp>},
    {"log1p", map<&FloatKernels::log1p>},
    {"silu", map<&FloatKernels::silu>},
    {"sigmoid", map<&FloatKernels::sigmoid>},
    {"softplus", map<&FloatKernels::softplus>},
    {"tanh", map<&FloatKernels::tanh>},
    {"gelu_tanh", map<&FloatKernels::gelu_tanh>},
    {"relu2", map<&FloatKernels::relu2>},
    {"glu_silu", glu<0>},
    {"glu_gelu_tanh", glu<1>},
    {"glu_relu2", glu<2>},
    {"gate_sigmoid", gate<0>},
    {"gate_identity", gate<2>},
    {"decay", decay},
    {"conv", conv<0>},
    {"conv_silu", conv<1>},
    {"quantize", quantize<&Kernels::quantize>},
    {"quantize_fine", quantize<&Kernels::quantize_fine>},
    {"softmax", softmax},
    {"combine_8", combine, kUsed},
    {"merge", merge},
    {"write_keys_f32", write_rows<&FloatKernels::write_keys, 0>, kAttendBlock},
    {"write_keys_f16", write_rows<&FloatKernels::write_keys, 1>, kAttendBlock},
    {"write_keys_bf16", write_rows<&FloatKernels::write_keys, 2>, kAttendBlock},
    {"write_values_f32", write_rows<&FloatKernels::write_values, 0>, kAttendBlock},
    {"write_values_f16", write_rows<&FloatKernels::write_values, 1>, kAttendBlock},
    {"write_values_bf16", write_rows<&FloatKernels::write_values, 2>, kAttendBlock},
};

void add_all() {
  for (const Isa& isa : all_isas()) {
    if (!isa.supported()) continue;
    for (const Kernel& kernel : kKernels) {
      for (const int width : {576, 1024, 2048, kMostWidth}) {
        benchmark::RegisterBenchmark(fmt::format("{}/{}/{}", isa.name, kernel.name, width).c_str(),
                                     [&isa, &kernel, width](benchmark::State& state) {
                                       Memory memory;
                                       for (auto _ : state) {
                                         kernel.body(*isa.kernels, memory, width);
                                         benchmark::ClobberMemory();
                                       }
                                       using benchmark::Counter;
                                       state.counters["values/s"] =
                                           Counter(1.0 * kernel.rows * width, Counter::kIsIterationInvariantRate);
                                     });
      }
    }
  }
}

}  // namespace
}  // namespace plait

int main(int argc, char** argv) {
  plait::add_all();
  return plait::run_benchmarks(argc, argv);
}
