// Products of weights and activations: operations and bytes of weights a second, by format, shape, tokens and threads.
//
//   linear_bench --benchmark_filter='q4_0/.*/tokens:1/'
//
// Weights of few tokens come from memory: several matrices are taken in turn, together larger than the caches. Those of
// 128x4096 stay in the cache.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "base/half.h"
#include "formats/all.h"
#include "isa/select.h"
#include "run_benchmarks.h"

namespace plait {
namespace {

struct Shape {
  int rows, cols;
  bool cached = false;  // Few tokens find the weights in the second level of the cache, and not in memory.
};

struct Case {
  const Format* format;
  Shape shape;
  int tokens, threads;
  std::string isa;
};

constexpr std::size_t kRotatedBytes = std::size_t{192} << 20;

// Bytes whose f16 fields are small numbers: every second byte is 0x2c or near it. What the codes are does not matter.
std::vector<std::byte> some_bytes(std::size_t count) {
  std::mt19937 source(1);
  std::uniform_int_distribution<int> bytes(0x20, 0x2f);
  std::vector<std::byte> out(count);
  for (std::byte& byte : out) byte = static_cast<std::byte>(bytes(source));
  return out;
}

void run(benchmark::State& state, const Case& c) {
  auto backend = std::move(*make_cpu_backend({.threads = c.threads, .isa = c.isa}));
  (void)backend->reserve(c.tokens, c.shape.cols).has_value();
  const FormatInfo& info = c.format->info;
  const std::size_t bytes = backend->weight_bytes(*c.format, c.shape.rows, c.shape.cols);
  const std::size_t copies = c.shape.cached || c.tokens > 16 ? 1 : kRotatedBytes / bytes + 1;
  auto memory = std::move(*backend->allocate(bytes * copies));
  const std::size_t file_bytes = static_cast<std::size_t>(c.shape.rows) *
                                 static_cast<std::size_t>(c.shape.cols / info.block_values) *
                                 static_cast<std::size_t>(info.block_bytes);
  const std::vector<std::byte> file = some_bytes(file_bytes);
  RawTensor raw{.name = "w", .format = c.format, .dimensions = 2, .data = file.data(), .bytes = file.size()};
  raw.extents = {c.shape.cols, c.shape.rows, 1, 1};
  std::vector<Weight> weights;
  for (std::size_t i = 0; i < copies; ++i) weights.push_back(backend->load(raw, *memory, i * bytes));

  const std::size_t in = static_cast<std::size_t>(c.tokens) * static_cast<std::size_t>(c.shape.cols);
  const std::size_t out = static_cast<std::size_t>(c.tokens) * static_cast<std::size_t>(c.shape.rows);
  auto numbers = std::move(*backend->allocate((in + out) * sizeof(float)));
  const Tensor x{numbers.get(), 0, c.tokens, c.shape.cols, c.shape.cols};
  const Tensor y{numbers.get(), in * sizeof(float), c.tokens, c.shape.rows, c.shape.rows};
  for (std::size_t i = 0; i < in; ++i) x.host().data[i] = static_cast<float>(static_cast<int>(i * 7919 % 255) - 127);

  const KeptThread kept = backend->keep_caller();  // Else the caller may share a core with a worker that keeps to it.
  std::size_t turn = 0;
  for (auto _ : state) {
    const Projection p{.weight = &weights[turn++ % copies], .out = y};
    backend->linear(x, {&p, 1});
  }
  const double operations = 2.0 * c.tokens * c.shape.rows * c.shape.cols;
  state.counters["GOPS"] = benchmark::Counter(operations * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["GB/s"] =
      benchmark::Counter(static_cast<double>(file_bytes) * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

void add_all() {
  const char* kFormats[] = {"q4_0",   "q4_1",  "q5_0", "q8_0",    "q2_k",     "q3_k",    "q4_k",   "q5_k", "q6_k",
                            "iq4_xs", "mxfp4", "q2_0", "q2_g128", "int8_row", "int4_32", "fp4_16", "f16",  "f32"};
  constexpr Shape kShapes[] = {{1536, 576}, {128, 4096, true}, {1024, 4096}, {4096, 4096}};
  const std::vector<int> few = {1, 2, 3, 4}, many = {1, 4, 8, 32, 128, 512};
  for (const Isa& isa : all_isas()) {
    if (!isa.supported() || isa.name == "scalar") continue;
    for (const char* name : kFormats) {
      for (const Shape shape : kShapes) {
        const Format* format = find_format(name);
        if (shape.cols % format->info.block_values != 0) continue;
        for (const int tokens : shape.cached ? few : many) {
          for (const int threads : {1, 2}) {
            const Case c{format, shape, tokens, threads, std::string(isa.name)};
            benchmark::RegisterBenchmark(
                fmt::format("{}/{}/{}x{}/tokens:{}/threads:{}", isa.name, name, shape.rows, shape.cols, tokens, threads)
                    .c_str(),
                [c](benchmark::State& state) { run(state, c); })
                ->UseRealTime();
          }
        }
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
