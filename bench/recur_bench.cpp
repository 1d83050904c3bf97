// The gated delta rule, anchored against classic. This file is long: all forms side by side.
// One thread; prefill, decode and the check of a draft. Figures are ns a token and head.
//
//   recur_bench --benchmark_enable_random_interleaving=true --benchmark_filter='decode/'
//
// "two_pass": what the key returns; then decay, update and result. "lazy": one sweep that applies the update of the
// token before while it computes both products of this one. Both are written for AVX-512 only.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "run_benchmarks.h"

#include <sys/mman.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace plait {
namespace {

constexpr int kDim = 128;
constexpr std::size_t kStateFloats = std::size_t{kDim} * kDim;

// States and rows in huge pages, zero and touched.
std::unique_ptr<Buffer> memory_of(Backend& backend, std::size_t bytes) {
  std::unique_ptr<Buffer> memory = std::move(*backend.allocate(bytes));
  ::madvise(memory->host(), bytes, MADV_HUGEPAGE);
  std::memset(memory->host(), 0, bytes);
  return memory;
}

struct Inputs {
  Inputs(Backend& backend, int heads_, int tokens_) : heads(heads_), tokens(tokens_) {
    const std::size_t wide = static_cast<std::size_t>(tokens) * static_cast<std::size_t>(heads) * kDim;
    const std::size_t narrow = static_cast<std::size_t>(tokens) * static_cast<std::size_t>(heads);
    buffer = std::move(*backend.allocate((4 * wide + 2 * narrow) * sizeof(float)));
    auto* numbers = reinterpret_cast<float*>(buffer->host());
    for (std::size_t i = 0; i < 3 * wide; ++i) {
      numbers[i] = static_cast<float>(static_cast<int>(i * 7919 % 255) - 127) * (0.08f / 127);
    }
    for (std::size_t i = 0; i < narrow; ++i) {
      numbers[4 * wide + i] = 0.95f;
      numbers[4 * wide + narrow + i] = 0.5f;
    }
    const auto at = [&](std::size_t offset, int cols) {
      return Tensor{buffer.get(), offset * sizeof(float), tokens, cols, cols};
    };
    q = at(0, heads * kDim);
    k = at(wide, heads * kDim);
    v = at(2 * wide, heads * kDim);
    out = at(3 * wide, heads * kDim);
    decay = at(4 * wide, heads);
    beta = at(4 * wide + narrow, heads);
  }

  int heads, tokens;
  std::unique_ptr<Buffer> buffer;
  Tensor q, k, v, out, decay, beta;
};

// Nanoseconds a token and head; the library prints them as seconds.
void report(benchmark::State& state, int tokens, int heads) {
  state.counters["ns"] = benchmark::Counter(
      1e-9 * tokens * heads, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

// ---------------------------------------------------------------- anchored

// A layer of one sequence: two anchors and a few blocks.
class Anchored {
 public:
  Anchored(Backend& backend, const Inputs& inputs) : backend_(backend), inputs_(inputs) {
    args_.key_heads = args_.value_heads = inputs.heads;
    args_.key_dim = args_.value_dim = kDim;
    const std::size_t block = 16 * static_cast<std::size_t>(recur_row_bytes(args_)), anchor = recur_state_bytes(args_);
    rows_ = memory_of(backend, 2 * block);
    anchors_ = memory_of(backend, 2 * anchor);
    layer_.rows[0] = {.buffer = rows_.get(), .offset = 0, .stride = block, .block_bytes = block, .group = 0};
    layer_.anchors = anchors_.get();
    layer_.anchor_stride = layer_.anchor_bytes = anchor;
  }
  // Tokens [begin, begin + count) of the inputs, `past` tokens being there.
  void step(int begin, int count, int past, int slot_in, int slot_out) {
    batch_.segments.resize(1);
    Segment& s = batch_.segments[0];
    s.count = count;
    s.past = past;
    const int chunks = (past + count + 15) / 16;
    s.blocks.resize(1);
    s.blocks[0].assign(static_cast<std::size_t>(chunks), -1);
    if (past % 16 != 0 || (past + count) % 16 != 0) s.blocks[0][static_cast<std::size_t>(past / 16)] = 0;
    if ((past + count) % 16 != 0) s.blocks[0].back() = past / 16 == chunks - 1 ? 0 : 1;
    s.anchor_in = slot_in;
    s.anchors_out.clear();
    if ((past + count) / 16 > past / 16) s.anchors_out.push_back({(past + count) / 16 * 16, slot_out});
    args_.q = inputs_.q.slice_rows(begin, count);
    args_.k = inputs_.k.slice_rows(begin, count);
    args_.v = inputs_.v.slice_rows(begin, count);
    args_.decay = inputs_.decay.slice_rows(begin, count);
    args_.beta = inputs_.beta.slice_rows(begin, count);
    args_.out = inputs_.out.slice_rows(begin, count);
    args_.batch = &batch_;
    args_.state = &layer_;
    backend_.recur(args_);
  }

 private:
  Backend& backend_;
  const Inputs& inputs_;
  RecurArgs args_;
  Batch batch_;
  std::unique_ptr<Buffer> rows_, anchors_;
  LayerState layer_;
};

std::unique_ptr<Backend> backend_of(const std::string& isa) {
  return std::move(*make_cpu_backend({.threads = 1, .isa = isa}));
}

void anchored_prefill(benchmark::State& state, const std::string& isa, int tokens) {
  const auto backend = backend_of(isa);
  const Inputs inputs(*backend, 4, tokens);
  Anchored layer(*backend, inputs);
  for (auto _ : state) layer.step(0, tokens, 0, -1, 0);
  report(state, tokens, 4);
}

// A whole chunk, token by token; the last token folds into another slot, or in place.
void anchored_decode(benchmark::State& state, const std::string& isa, int heads, bool in_place) {
  const auto backend = backend_of(isa);
  const Inputs inputs(*backend, heads, 16);
  Anchored layer(*backend, inputs);
  int slot = 0;
  for (auto _ : state) {
    const int next = in_place ? 0 : 1 - slot;
    for (int t = 0; t < 16; ++t) layer.step(t, 1, 16 + t, slot, next);
    slot = next;
  }
  report(state, 16, heads);
}

// `count` tokens together, at every place of a chunk where they fit: no fold.
void anchored_draft(benchmark::State& state, const std::string& isa, int heads, int count) {
  const auto backend = backend_of(isa);
  const Inputs inputs(*backend, heads, 16);
  Anchored layer(*backend, inputs);
  int tokens = 0;
  for (int past = 0; past + count < 16; past += count) tokens += count;
  for (auto _ : state) {
    for (int past = 0; past + count < 16; past += count) layer.step(past, count, 16 + past, 0, 1);
  }
  report(state, tokens, heads);
}

#if defined(__x86_64__)
// ---------------------------------------------------------------- classic

// One token of one head.
struct Token1 {
  const float *q, *k, *v;
  float* out;
  float decay, beta;
};
Token1 token_of(const Inputs& inputs, int t, int head) {
  return {inputs.q.host().row(t) + head * kDim, inputs.k.host().row(t) + head * kDim,
          inputs.v.host().row(t) + head * kDim, inputs.out.host().row(t) + head * kDim,
          inputs.decay.host().row(t)[head],     inputs.beta.host().row(t)[head]};
}

// From `in` to `out`, which may be one.
[[gnu::target("avx512f,avx512dq,avx512vl,avx512bw,fma,avx2")]] void two_pass(const Token1& t, const float* in,
                                                                             float* out) {
  __m512 x[8], y[8];
  for (int w = 0; w < 8; ++w) x[w] = y[w] = _mm512_setzero_ps();
  for (int i = 0; i < kDim; ++i) {
    const __m512 k = _mm512_set1_ps(t.k[i]);
    for (int w = 0; w < 8; ++w) x[w] = _mm512_fmadd_ps(k, _mm512_loadu_ps(in + i * kDim + 16 * w), x[w]);
  }
  const __m512 a = _mm512_set1_ps(t.decay), beta = _mm512_set1_ps(t.beta);
  for (int w = 0; w < 8; ++w) x[w] = _mm512_mul_ps(beta, _mm512_fnmadd_ps(a, x[w], _mm512_loadu_ps(t.v + 16 * w)));
  for (int i = 0; i < kDim; ++i) {
    const __m512 k = _mm512_set1_ps(t.k[i]), q = _mm512_set1_ps(t.q[i]);
    for (int w = 0; w < 8; ++w) {
      const __m512 s = _mm512_fmadd_ps(k, x[w], _mm512_mul_ps(a, _mm512_loadu_ps(in + i * kDim + 16 * w)));
      _mm512_storeu_ps(out + i * kDim + 16 * w, s);
      y[w] = _mm512_fmadd_ps(q, s, y[w]);
    }
  }
  for (int w = 0; w < 8; ++w) _mm512_storeu_ps(t.out + 16 * w, y[w]);
}

// What the token before has not yet written.
struct Pending {
  const float* k;
  float u[kDim];
  float decay;
};

template <int W>
[[gnu::target("avx512f,avx512dq,avx512vl,avx512bw,fma,avx2")]] inline __attribute__((always_inline)) void lazy(
    const Token1& t, float* state, Pending& pending, int column) {
  __m512 x[W], y[W], u[W];
  for (int w = 0; w < W; ++w) {
    x[w] = y[w] = _mm512_setzero_ps();
    u[w] = _mm512_loadu_ps(pending.u + column + 16 * w);
  }
  const __m512 before = _mm512_set1_ps(pending.decay);
  const float* const keys = pending.k;
  float* s_row = state + column;
  __m512 qk = _mm512_setzero_ps();
  for (int i = 0; i < kDim; i += 16) qk = _mm512_fmadd_ps(_mm512_loadu_ps(t.q + i), _mm512_loadu_ps(t.k + i), qk);
  for (int i = 0; i < kDim; ++i, s_row += kDim) {
    const __m512 kb = _mm512_set1_ps(keys[i]), k = _mm512_set1_ps(t.k[i]), q = _mm512_set1_ps(t.q[i]);
    for (int w = 0; w < W; ++w) {
      const __m512 s = _mm512_fmadd_ps(kb, u[w], _mm512_mul_ps(before, _mm512_loadu_ps(s_row + 16 * w)));
      _mm512_storeu_ps(s_row + 16 * w, s);
      x[w] = _mm512_fmadd_ps(k, s, x[w]);
      y[w] = _mm512_fmadd_ps(q, s, y[w]);
    }
  }
  const __m512 a = _mm512_set1_ps(t.decay), beta = _mm512_set1_ps(t.beta);
  alignas(64) float lanes[16];
  _mm512_store_ps(lanes, qk);
  float sum = 0;
  for (const float lane : lanes) sum += lane;
  const __m512 dot = _mm512_set1_ps(sum);
  for (int w = 0; w < W; ++w) {
    const __m512 v = _mm512_loadu_ps(t.v + column + 16 * w);
    u[w] = _mm512_mul_ps(beta, _mm512_fnmadd_ps(a, x[w], v));
    _mm512_storeu_ps(pending.u + column + 16 * w, u[w]);
    _mm512_storeu_ps(t.out + column + 16 * w, _mm512_fmadd_ps(dot, u[w], _mm512_mul_ps(a, y[w])));
  }
}
[[gnu::target("avx512f,avx512dq,avx512vl,avx512bw,fma,avx2")]] void lazy_all(const Token1& t, float* state,
                                                                             Pending& pending) {
  lazy<8>(t, state, pending, 0);
  pending.k = t.k;
  pending.decay = t.decay;
}

class Classic {
 public:
  Classic(Backend& backend, int heads, int states = 1)
      : memory_(memory_of(backend, sizeof(float) * kStateFloats * static_cast<std::size_t>(heads * states))),
        pending_(static_cast<std::size_t>(heads)),
        heads_(heads) {
    for (Pending& p : pending_) p = {.k = zeros_, .u = {}, .decay = 1};
  }
  float* state(int head, int number = 0) {
    return reinterpret_cast<float*>(memory_->host()) + kStateFloats * static_cast<std::size_t>(number * heads_ + head);
  }
  Pending& pending(int head) { return pending_[static_cast<std::size_t>(head)]; }

 private:
  static constexpr float zeros_[kDim] = {};
  std::unique_ptr<Buffer> memory_;
  std::vector<Pending> pending_;
  int heads_;
};

void two_pass_prefill(benchmark::State& state, int tokens) {
  const auto backend = backend_of("");
  const Inputs inputs(*backend, 4, tokens);
  Classic classic(*backend, 4);
  for (auto _ : state) {
    for (int head = 0; head < 4; ++head) {
      for (int t = 0; t < tokens; ++t) {
        two_pass(token_of(inputs, t, head), classic.state(head), classic.state(head));
      }
    }
  }
  report(state, tokens, 4);
}

// A tile of columns goes through all tokens, so that it stays in the first cache.
[[gnu::target("avx512f,avx512dq,avx512vl,avx512bw,fma,avx2")]] void lazy_tiles(const Inputs& inputs, int tokens,
                                                                               int head, float* state,
                                                                               Pending& pending) {
  for (int column = 0; column < kDim; column += 64) {
    Pending p = pending;
    for (int t = 0; t < tokens; ++t) {
      const Token1 token = token_of(inputs, t, head);
      lazy<4>(token, state, p, column);
      p.k = token.k;
      p.decay = token.decay;
    }
    if (column + 64 == kDim) {
      pending.k = p.k;
      pending.decay = p.decay;
    }
    std::memcpy(pending.u + column, p.u + column, 64 * sizeof(float));
  }
}

void lazy_prefill(benchmark::State& state, int tokens) {
  const auto backend = backend_of("");
  const Inputs inputs(*backend, 4, tokens);
  Classic classic(*backend, 4);
  for (auto _ : state) {
    for (int head = 0; head < 4; ++head) {
      lazy_tiles(inputs, tokens, head, classic.state(head), classic.pending(head));
    }
  }
  report(state, tokens, 4);
}

void classic_decode(benchmark::State& state, int heads, bool is_lazy) {
  const auto backend = backend_of("");
  const Inputs inputs(*backend, heads, 16);
  Classic classic(*backend, heads);
  for (auto _ : state) {
    for (int t = 0; t < 16; ++t) {
      for (int head = 0; head < heads; ++head) {
        const Token1 token = token_of(inputs, t, head);
        if (is_lazy) {
          lazy_all(token, classic.state(head), classic.pending(head));
        } else {
          two_pass(token, classic.state(head), classic.state(head));
        }
      }
    }
  }
  report(state, 16, heads);
}

// Two ways to check a draft: a state for each token of it, or a copy of the state that goes on lazily. The memory for
// them is one of `places`, taken in turn: 1 is what a single layer sees, 32 a layer of a model, which finds the others'
// copies in its caches.
void classic_draft(benchmark::State& state, int heads, int count, bool copies, int places) {
  const auto backend = backend_of("");
  const Inputs inputs(*backend, heads, 16);
  const int taken = copies ? 1 : count;
  Classic classic(*backend, heads, 1 + taken * places);
  int place = 0;
  for (auto _ : state) {
    const int first = 1 + place++ % places * taken;
    for (int head = 0; head < heads; ++head) {
      float* const copy = classic.state(head, first);
      if (copies) std::memcpy(copy, classic.state(head), kStateFloats * sizeof(float));
      Pending pending = classic.pending(head);
      for (int t = 0; t < count; ++t) {
        const Token1 token = token_of(inputs, t, head);
        if (copies) {
          lazy_all(token, copy, pending);
        } else {
          two_pass(token, classic.state(head, t == 0 ? 0 : first + t - 1), classic.state(head, first + t));
        }
      }
    }
  }
  report(state, count, heads);
}
#endif

// ---------------------------------------------------------------- what is run

template <class Body>
void add(const std::string& name, Body body) {
  const auto least = [](const std::vector<double>& values) { return *std::min_element(values.begin(), values.end()); };
  benchmark::RegisterBenchmark(name.c_str(), body)
      ->Repetitions(5)
      ->ReportAggregatesOnly()
      ->ComputeStatistics("min", least)
      ->MinTime(0.05)
      ->Unit(benchmark::kMicrosecond);
}

struct Place {
  const char* name;
  int heads;
};
constexpr Place kPlaces[] = {{"l2", 4}, {"1mib", 16}, {"dram", 4096}};

void add_all() {
  for (const std::string isa : {"avx512", "avx2"}) {
    if (!make_cpu_backend({.threads = 1, .isa = isa})) continue;
    add("prefill/anchored/" + isa, [isa](benchmark::State& s) { anchored_prefill(s, isa, 512); });
    for (const Place& place : kPlaces) {
      const int heads = place.heads;
      add(fmt::format("decode/{}/anchored/{}", place.name, isa),
          [=](benchmark::State& s) { anchored_decode(s, isa, heads, false); });
      add(fmt::format("decode/{}/anchored_in_place/{}", place.name, isa),
          [=](benchmark::State& s) { anchored_decode(s, isa, heads, true); });
      for (const int count : {1, 2, 4, 8}) {
        add(fmt::format("draft/{}/n:{}/anchored/{}", place.name, count, isa),
            [=](benchmark::State& s) { anchored_draft(s, isa, heads, count); });
      }
    }
  }
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx512dq")) return;
  add("prefill/two_pass", [](benchmark::State& s) { two_pass_prefill(s, 512); });
  add("prefill/lazy_tiles", [](benchmark::State& s) { lazy_prefill(s, 512); });
  for (const Place& place : kPlaces) {
    const int heads = place.heads;
    add(fmt::format("decode/{}/two_pass", place.name), [=](benchmark::State& s) { classic_decode(s, heads, false); });
    add(fmt::format("decode/{}/lazy", place.name), [=](benchmark::State& s) { classic_decode(s, heads, true); });
    for (const int count : {1, 2, 4, 8}) {
      for (const int places : {1, 32}) {
        if (heads == 4096 && places > 1) continue;
        add(fmt::format("draft/{}/n:{}/lazy_copy/places:{}", place.name, count, places),
            [=](benchmark::State& s) { classic_draft(s, heads, count, true, places); });
        if (heads == 4096) continue;
        add(fmt::format("draft/{}/n:{}/state_each/places:{}", place.name, count, places),
            [=](benchmark::State& s) { classic_draft(s, heads, count, false, places); });
      }
    }
  }
#endif
}

}  // namespace
}  // namespace plait

int main(int argc, char** argv) {
  plait::add_all();
  return plait::run_benchmarks(argc, argv);
}
