// Attention by itself: bytes of rows and operations a second, by heads, row type, depth, threads and instruction set.
//
//   attend_bench --benchmark_filter='avx512/16:8x128/f16/decode/depth:32768/threads:2' --benchmark_repetitions=5
//
// Rows lie as the cache lays them out in a model of so many layers. Those of a decoded token come from memory: layers,
// then sequences, are taken in turn, together larger than the caches. A chunk of prefill reads its own layer again.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "base/random.h"
#include "cache/state_store.h"
#include "isa/select.h"
#include "run_benchmarks.h"

namespace plait {
namespace {

struct Heads {
  int heads, kv_heads, width;
  int layers;  // Of the model, as far as they attend.
};

struct Case {
  Heads heads;
  RowType rows;
  int depth, tokens, threads;
  std::string isa;
};

constexpr std::size_t kRotatedBytes = std::size_t{192} << 20;

// A case's memory: `places` pairs of sequence and layer, each with rows for the whole context.
class Bench {
 public:
  explicit Bench(const Case& c)
      : case_(c),
        blocks_((c.depth + c.tokens + kBlockTokens - 1) / kBlockTokens),
        backend_(std::move(*make_cpu_backend({.threads = c.threads, .isa = c.isa}))),
        places_(c.tokens > 1 ? 1 : static_cast<int>(kRotatedBytes / row_bytes()) + 1),
        store_(make_store()) {
    for (int place = 0; place < places_; ++place) fill(place);
    for (int s = 0; s < sequences(); ++s) {
      Batch& batch = batches_.emplace_back();
      std::vector<int> numbers;
      for (int b = 0; b < blocks_; ++b) numbers.push_back(s * blocks_ + b);
      batch.segments.push_back({.count = c.tokens, .past = c.depth, .blocks = {std::move(numbers)}, .anchors_out = {}});
    }
    const int width = (2 * c.heads.heads + 2 * c.heads.kv_heads) * c.heads.width;
    memory_ = std::move(*backend_->allocate(static_cast<std::size_t>(c.tokens * width) * sizeof(float)));
    auto* numbers = reinterpret_cast<float*>(memory_->host());
    for (int i = 0; i < c.tokens * width; ++i)
      numbers[i] = static_cast<float>(random_unit(1, static_cast<std::uint64_t>(i))) - 0.5f;
  }

  // What is read: rows of the context, keys and values.
  std::size_t row_bytes() const {
    return static_cast<std::size_t>(case_.depth + case_.tokens) * static_cast<std::size_t>(2 * token_bytes());
  }
  // Of scores and weighted values; a product and a sum are two.
  double operations() const {
    const double pairs = case_.tokens * (case_.depth + (case_.tokens + 1) / 2.0);
    return 4.0 * pairs * case_.heads.heads * case_.heads.width;
  }

  KeptThread keep_caller() const { return backend_->keep_caller(); }

  void step(std::size_t turn) {
    const int place = static_cast<int>(turn % static_cast<std::size_t>(places_));
    const int q_width = case_.heads.heads * case_.heads.width, k_width = case_.heads.kv_heads * case_.heads.width;
    std::size_t offset = 0;
    const auto take = [&](int width) {
      const Tensor tensor{memory_.get(), offset, case_.tokens, width, width};
      offset += static_cast<std::size_t>(case_.tokens * width) * sizeof(float);
      return tensor;
    };
    AttendArgs args;
    args.q = take(q_width);
    args.k = take(k_width);
    args.v = take(k_width);
    args.out = take(q_width);
    args.heads = case_.heads.heads;
    args.kv_heads = case_.heads.kv_heads;
    args.key_dim = args.value_dim = case_.heads.width;
    args.scale = 1 / std::sqrt(static_cast<float>(case_.heads.width));
    args.key_type = args.value_type = case_.rows;
    args.batch = &batches_[static_cast<std::size_t>(place / case_.heads.layers)];
    args.state = &store_.states()[static_cast<std::size_t>(place % case_.heads.layers)];
    backend_->attend(args);
  }

 private:
  int token_bytes() const { return case_.heads.kv_heads * case_.heads.width * row_type_bytes(case_.rows); }
  int sequences() const { return (places_ + case_.heads.layers - 1) / case_.heads.layers; }

  StateStore make_store() {
    StateSpec layer;
    layer.rows[0] = layer.rows[1] = {.bytes = token_bytes()};
    const std::vector<StateSpec> layers(static_cast<std::size_t>(case_.heads.layers), layer);
    const int blocks = sequences() * blocks_;
    return std::move(*StateStore::create(*backend_, layers, {&blocks, 1}, 0));
  }

  // Small random numbers in every row.
  void fill(int place) {
    const LayerState& state = store_.states()[static_cast<std::size_t>(place % case_.heads.layers)];
    const int first = place / case_.heads.layers * blocks_;
    for (int stream = 0; stream < 2; ++stream) {
      const RowStream& rows = state.rows[stream];
      for (int b = first; b < first + blocks_; ++b) {
        std::byte* block = rows.buffer->host() + rows.offset + static_cast<std::size_t>(b) * rows.stride;
        auto* halves = reinterpret_cast<std::uint16_t*>(block);
        for (std::size_t i = 0; i < rows.block_bytes / 2; ++i)
          halves[i] = static_cast<std::uint16_t>(0x2c00 + (i * 7919 + static_cast<std::size_t>(b) * 31) % 0x400);
      }
    }
  }

  Case case_;
  int blocks_;  // Of a sequence.
  std::unique_ptr<Backend> backend_;
  int places_;
  StateStore store_;
  std::vector<Batch> batches_;  // One a sequence.
  std::unique_ptr<Buffer> memory_;
};

void run(benchmark::State& state, const Case& c) {
  Bench bench(c);
  const KeptThread kept = bench.keep_caller();  // Else the caller may share a core with a worker that keeps to it.
  std::size_t turn = 0;
  for (auto _ : state) bench.step(turn++);
  using benchmark::Counter;
  state.counters["GB/s"] = Counter(static_cast<double>(bench.row_bytes()) * 1e-9, Counter::kIsIterationInvariantRate);
  state.counters["GFLOPS"] = Counter(bench.operations() * 1e-9, Counter::kIsIterationInvariantRate);
}

void add(const Case& c) {
  constexpr const char* kRowNames[] = {"f32", "f16", "bf16"};
  const std::string heads = fmt::format("{}:{}x{}", c.heads.heads, c.heads.kv_heads, c.heads.width);
  const std::string name =
      fmt::format("{}/{}/{}/{}/depth:{}/threads:{}", c.isa, heads, kRowNames[static_cast<int>(c.rows)],
                  c.tokens == 1 ? "decode" : "prefill", c.depth, c.threads);
  benchmark::RegisterBenchmark(name.c_str(), [c](benchmark::State& state) { run(state, c); })
      ->UseRealTime()
      ->Unit(benchmark::kMicrosecond);
}

void add_all() {
  constexpr Heads kHeads[] = {{16, 8, 128, 28}, {9, 3, 64, 30}, {8, 2, 256, 6}};  // Qwen3-0.6B, SmolLM2, Qwen3.5.
  constexpr int kSteps[][2] = {{512, 1}, {4096, 1}, {32768, 1}, {0, 512}, {4096, 512}};  // Depth and tokens.
  for (const Isa& isa : all_isas()) {
    if (!isa.supported() || isa.name == "scalar") continue;
    for (const Heads& heads : kHeads) {
      for (const RowType rows : {RowType::kF32, RowType::kF16, RowType::kBF16}) {
        for (const auto& [depth, tokens] : kSteps) {
          for (const int threads : {1, 2}) add({heads, rows, depth, tokens, threads, std::string(isa.name)});
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
