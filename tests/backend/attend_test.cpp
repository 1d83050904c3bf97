// Attention: the bits of its rule on every instruction set, for any threads, chunks, company, windows and row types.
#include "backend/cpu/attend.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/thread_pool.h"
#include "support/attend_reference.h"
#include "support/for_each_isa.h"
#include "support/numbers.h"

namespace plait {
namespace {

class Memory final : public Buffer {
 public:
  explicit Memory(std::size_t floats, float fill = 0) : floats_(floats, fill) {}
  std::size_t bytes() const override { return floats_.size() * sizeof(float); }
  std::byte* host() override { return reinterpret_cast<std::byte*>(floats_.data()); }
  std::vector<float>& floats() { return floats_; }

 private:
  std::vector<float> floats_;
};

struct Shape {
  int heads = 3, kv_heads = 1;
  int key_dim = 32, value_dim = 32;
  float scale = 0.125f;
  int window = 0;
  float soft_cap = 0;
  bool sinks = false;
  RowType key_type = RowType::kF16, value_type = RowType::kF16;
  float size = 1;  // Of queries: how peaked the softmax is.
};

// A whole sequence: what its tokens ask, and what they are to get.
struct Sequence {
  Sequence(const Shape& s, int tokens_, unsigned seed) : shape(s), tokens(tokens_) {
    const auto floats = [&](int width, unsigned part, float size) {
      return random_floats(static_cast<std::size_t>(tokens) * static_cast<std::size_t>(width), seed + part, size);
    };
    q = floats(s.heads * s.key_dim, 0, s.size);
    k = floats(s.kv_heads * s.key_dim, 1, 1);
    v = floats(s.kv_heads * s.value_dim, 2, 1);
    sinks = random_floats(static_cast<std::size_t>(s.heads), 99);
    for (int head = 0; head < s.kv_heads; ++head) {
      keys.push_back(rows(k, s.kv_heads, s.key_dim, head, s.key_type));
      values.push_back(rows(v, s.kv_heads, s.value_dim, head, s.value_type));
    }
  }

  std::vector<std::vector<float>> rows(const std::vector<float>& from, int heads, int dim, int head,
                                       RowType type) const {
    std::vector<std::vector<float>> result;
    for (int t = 0; t < tokens; ++t) {
      const float* const row = from.data() + (static_cast<std::ptrdiff_t>(t) * heads + head) * dim;
      result.emplace_back(row, row + dim);
      for (float& value : result.back()) value = round_to(type, value);
    }
    return result;
  }

  AttendCase query(int token, int head) const {
    const std::size_t kv = static_cast<std::size_t>(head / (shape.heads / shape.kv_heads));
    const float* const at = q.data() + (static_cast<std::ptrdiff_t>(token) * shape.heads + head) * shape.key_dim;
    return {.q = {at, static_cast<std::size_t>(shape.key_dim)},
            .keys = &keys[kv],
            .values = &values[kv],
            .position = token,
            .scale = shape.scale,
            .window = shape.window,
            .soft_cap = shape.soft_cap,
            .sink = shape.sinks ? &sinks[static_cast<std::size_t>(head)] : nullptr};
  }

  // The rule's result of one token, all heads.
  std::vector<float> wanted(int token) const {
    std::vector<float> result;
    for (int head = 0; head < shape.heads; ++head) {
      const std::vector<float> out = rule::attend(query(token, head));
      result.insert(result.end(), out.begin(), out.end());
    }
    return result;
  }

  Shape shape;
  int tokens;
  std::vector<float> q, k, v, sinks;
  std::vector<std::vector<std::vector<float>>> keys, values;  // [kv head][token], as rows keep them.
};

// The state of one layer, and steps over it. All memory is NaN until it is written.
class Layer {
 public:
  Layer(const Shape& shape, int blocks, const Kernels& kernels, int threads)
      : shape_(shape), kernels_(kernels), pool_(threads), scratch_(threads) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const int dims[] = {shape.key_dim, shape.value_dim};
    const RowType types[] = {shape.key_type, shape.value_type};
    for (int i = 0; i < 2; ++i) {
      const std::size_t bytes = static_cast<std::size_t>(16 * shape.kv_heads * dims[i] * row_type_bytes(types[i]));
      memory_.push_back(std::make_unique<Memory>(bytes * static_cast<std::size_t>(blocks) / sizeof(float) + 16, nan));
      for (std::byte& byte : std::span(memory_.back()->host(), memory_.back()->bytes())) byte = std::byte{0xff};
      state_.rows[i] = {
          .buffer = memory_.back().get(), .offset = 64, .stride = bytes, .block_bytes = bytes, .group = i};
    }
    // Numbers of blocks in no order, each list in its own.
    for (int i = 0; i < 2; ++i) {
      for (int b = 0; b < blocks; ++b) free_[i].push_back(b);
      std::shuffle(free_[i].begin(), free_[i].end(), std::mt19937(static_cast<unsigned>(i)));
    }
  }

  struct Work {
    const Sequence* sequence;
    std::vector<std::vector<int>>* blocks;  // Of the sequence, for both groups; grows.
    int past, count;
    std::vector<float>* out;  // [tokens of the sequence, heads * value_dim]
  };

  void step(const std::vector<Work>& work) {
    Batch batch;
    int tokens = 0;
    for (const Work& w : work) {
      for (std::size_t group = 0; group < 2; ++group) {
        while (static_cast<int>((*w.blocks)[group].size()) * 16 < w.past + w.count) {
          (*w.blocks)[group].push_back(free_[group].back());
          free_[group].pop_back();
        }
      }
      batch.segments.push_back(
          {.begin = tokens, .count = w.count, .past = w.past, .blocks = *w.blocks, .anchors_out = {}});
      tokens += w.count;
    }
    Memory q = gather(work, &Sequence::q, shape_.heads * shape_.key_dim);
    Memory k = gather(work, &Sequence::k, shape_.kv_heads * shape_.key_dim);
    Memory v = gather(work, &Sequence::v, shape_.kv_heads * shape_.value_dim);
    const int width = shape_.heads * shape_.value_dim;
    Memory out(static_cast<std::size_t>(tokens) * static_cast<std::size_t>(width), 7.0f);
    Memory sinks(static_cast<std::size_t>(shape_.heads));
    sinks.floats() = work[0].sequence->sinks;
    const Weight sink_weight{.rows = 1, .cols = shape_.heads, .buffer = &sinks};
    const auto tensor = [&](Memory& memory, int cols) { return Tensor{&memory, 0, tokens, cols, cols}; };
    attend({.q = tensor(q, shape_.heads * shape_.key_dim),
            .k = tensor(k, shape_.kv_heads * shape_.key_dim),
            .v = tensor(v, shape_.kv_heads * shape_.value_dim),
            .out = tensor(out, width),
            .heads = shape_.heads,
            .kv_heads = shape_.kv_heads,
            .key_dim = shape_.key_dim,
            .value_dim = shape_.value_dim,
            .scale = shape_.scale,
            .window = shape_.window,
            .soft_cap = shape_.soft_cap,
            .sinks = shape_.sinks ? &sink_weight : nullptr,
            .key_type = shape_.key_type,
            .value_type = shape_.value_type,
            .batch = &batch,
            .state = &state_},
           {kernels_.floats, pool_}, scratch_);
    const float* from = out.floats().data();
    for (const Work& w : work) {
      std::copy(from, from + w.count * width, w.out->begin() + w.past * width);
      from += w.count * width;
    }
  }

 private:
  static Memory gather(const std::vector<Work>& work, std::vector<float> Sequence::*numbers, int width) {
    Memory memory(0);
    for (const Work& w : work) {
      const auto begin = (w.sequence->*numbers).begin() + w.past * width;
      memory.floats().insert(memory.floats().end(), begin, begin + w.count * width);
    }
    return memory;
  }

  Shape shape_;
  const Kernels& kernels_;
  ThreadPool pool_;
  AttendScratch scratch_;
  std::vector<std::unique_ptr<Memory>> memory_;
  std::vector<int> free_[2];
  LayerState state_;
};

std::vector<float> empty_out(const Sequence& sequence) {
  return std::vector<float>(
      static_cast<std::size_t>(sequence.tokens * sequence.shape.heads * sequence.shape.value_dim));
}

// The whole sequence in chunks of `chunk`, alone.
std::vector<float> run(const Sequence& sequence, const Kernels& kernels, int threads, int chunk) {
  Layer layer(sequence.shape, (sequence.tokens + 15) / 16, kernels, threads);
  std::vector<std::vector<int>> blocks(2);
  std::vector<float> out = empty_out(sequence);
  for (int past = 0; past < sequence.tokens; past += chunk) {
    layer.step({{&sequence, &blocks, past, std::min(chunk, sequence.tokens - past), &out}});
  }
  return out;
}

void expect_rows(const Sequence& sequence, const std::vector<float>& out, const std::vector<int>& tokens) {
  const std::size_t width = static_cast<std::size_t>(sequence.shape.heads * sequence.shape.value_dim);
  for (const int token : tokens) {
    SCOPED_TRACE(token);
    expect_same_bits(std::span(out).subspan(static_cast<std::size_t>(token) * width, width), sequence.wanted(token));
    if (testing::Test::HasFatalFailure()) return;
  }
}

std::vector<int> first_tokens(int count) {
  std::vector<int> tokens;
  for (int i = 0; i < count; ++i) tokens.push_back(i);
  return tokens;
}

struct NamedShape {
  const char* name;
  Shape shape;
};

const NamedShape kShapes[] = {
    {"f16 rows", {}},
    {"f32 rows", {.key_type = RowType::kF32, .value_type = RowType::kF32}},
    {"bf16 rows", {.key_type = RowType::kBF16, .value_type = RowType::kBF16}},
    {"f32 keys, bf16 values", {.key_type = RowType::kF32, .value_type = RowType::kBF16}},
    {"one head", {.heads = 1, .key_dim = 64, .value_dim = 64}},
    {"eight heads over two", {.heads = 8, .kv_heads = 2, .key_dim = 16, .value_dim = 48}},
    {"a head for each", {.heads = 3, .kv_heads = 3, .key_dim = 16, .value_dim = 128}},
    {"five over one, odd widths", {.heads = 5, .key_dim = 7, .value_dim = 21}},
    {"odd widths in f32",
     {.heads = 2, .key_dim = 9, .value_dim = 80, .key_type = RowType::kF32, .value_type = RowType::kF32}},
    {"window 1", {.window = 1}},
    {"window 20", {.window = 20}},
    {"window 200", {.window = 200}},
    {"soft cap", {.soft_cap = 5, .size = 8}},
    {"sinks", {.sinks = true}},
    {"sinks, window, soft cap", {.window = 33, .soft_cap = 20, .sinks = true}},
    {"peaked", {.size = 40}},
};

TEST(Attend, GivesTheBitsOfItsRuleForEveryShape) {
  for (const NamedShape& named : kShapes) {
    SCOPED_TRACE(named.name);
    const Sequence sequence(named.shape, 100, 1);
    for_each_isa(
        [&](const Kernels& kernels) { expect_rows(sequence, run(sequence, kernels, 2, 100), first_tokens(100)); });
  }
}

// Contexts around the boundaries of blocks and parts, computed whole and token by token.
TEST(Attend, GivesTheBitsOfItsRuleAcrossPartsAndChunks) {
  for (const NamedShape& named : {kShapes[0], kShapes[5], kShapes[11], kShapes[14]}) {
    SCOPED_TRACE(named.name);
    const Sequence sequence(named.shape, 530, 2);
    const std::vector<int> tokens = {0, 14, 15, 16, 17, 31, 32, 199, 200, 510, 511, 512, 513, 529};
    for_each_isa([&](const Kernels& kernels) {
      const std::vector<float> whole = run(sequence, kernels, 2, 530);
      expect_rows(sequence, whole, tokens);
      for (const int chunk : {1, 7, 16, 64, 500}) {
        SCOPED_TRACE(chunk);
        expect_same_bits(run(sequence, kernels, chunk == 1 ? 1 : chunk % 4 + 1, chunk), whole);
        if (testing::Test::HasFatalFailure()) return;
      }
    });
  }
}

TEST(Attend, GivesTheSameBitsForAnyNumberOfThreads) {
  const Sequence sequence({.heads = 4, .kv_heads = 2}, 5000, 3);
  const Kernels& best = *kernels_for("").value();
  for (int threads = 1; threads <= 4; ++threads) {
    SCOPED_TRACE(threads);
    // A long prompt, then single tokens, whose parts are shared out.
    Layer layer(sequence.shape, (sequence.tokens + 15) / 16, best, threads);
    std::vector<std::vector<int>> blocks(2);
    std::vector<float> out = empty_out(sequence);
    for (int past = 0; past < 4995; past += 999) layer.step({{&sequence, &blocks, past, 999, &out}});
    for (int past = 4995; past < 5000; ++past) layer.step({{&sequence, &blocks, past, 1, &out}});
    expect_rows(sequence, out, {0, 511, 512, 2500, 4994, 4995, 4999});
  }
}

TEST(Attend, GivesTheSameBitsOnLongContextsOnEveryInstructionSet) {
  for (const int window : {0, 1000}) {
    const Sequence sequence({.heads = 1, .key_dim = 16, .value_dim = 16, .window = window}, 5000, 4);
    for_each_isa([&](const Kernels& kernels) {
      const std::vector<float> out = run(sequence, kernels, 3, 2500);
      expect_rows(sequence, out, {0, 999, 1000, 1511, 2499, 2500, 3071, 3072, 4999});
    });
  }
}

// One token over many parts for each thread: key heads are read together, as many as a unit holds.
TEST(Attend, GivesTheBitsOfItsRuleWhereHeadsAreReadTogether) {
  constexpr int kPast = 1558, kTokens = 1564;
  const Shape shapes[] = {{.heads = 4, .kv_heads = 2, .key_dim = 16, .value_dim = 48},
                          {.heads = 3, .kv_heads = 3, .key_dim = 7, .value_dim = 21, .window = 1537, .sinks = true},
                          {.heads = 6,
                           .kv_heads = 2,
                           .key_dim = 8,
                           .value_dim = 16,
                           .soft_cap = 5,
                           .key_type = RowType::kF32,
                           .value_type = RowType::kBF16,
                           .size = 8},
                          {.heads = 54, .kv_heads = 27, .key_dim = 4, .value_dim = 4}};
  for (const Shape& shape : shapes) {
    SCOPED_TRACE(shape.heads);
    const Sequence sequence(shape, kTokens, 7);
    for_each_isa([&](const Kernels& kernels) {
      Layer layer(shape, (kTokens + 15) / 16, kernels, 1);
      std::vector<std::vector<int>> blocks(2);
      std::vector<float> out = empty_out(sequence);
      layer.step({{&sequence, &blocks, 0, kPast, &out}});
      for (int past = kPast; past < kTokens; ++past) layer.step({{&sequence, &blocks, past, 1, &out}});
      expect_rows(sequence, out, {kPast, kPast + 1, kPast + 2, kTokens - 1});
    });
  }
}

TEST(Attend, GivesTheSameBitsInCompany) {
  const Shape shape{.heads = 6, .kv_heads = 2, .key_dim = 16, .value_dim = 16};
  const Sequence a(shape, 300, 5), b(shape, 40, 6), c(shape, 1, 7), d(shape, 620, 8);
  for_each_isa([&](const Kernels& kernels) {
    for (const int threads : {1, 3}) {
      Layer layer(shape, 200, kernels, threads);
      std::vector<std::vector<int>> blocks[4] = {{{}, {}}, {{}, {}}, {{}, {}}, {{}, {}}};
      std::vector<float> out[4] = {empty_out(a), empty_out(b), empty_out(c), empty_out(d)};
      layer.step({{&d, &blocks[3], 0, 610, &out[3]}, {&a, &blocks[0], 0, 200, &out[0]}});
      layer.step(
          {{&a, &blocks[0], 200, 99, &out[0]}, {&d, &blocks[3], 610, 9, &out[3]}, {&b, &blocks[1], 0, 39, &out[1]}});
      layer.step({{&a, &blocks[0], 299, 1, &out[0]},
                  {&b, &blocks[1], 39, 1, &out[1]},
                  {&c, &blocks[2], 0, 1, &out[2]},
                  {&d, &blocks[3], 619, 1, &out[3]}});
      expect_same_bits(out[0], run(a, kernels, 1, 300));
      expect_same_bits(out[1], run(b, kernels, 1, 40));
      expect_same_bits(out[2], run(c, kernels, 1, 1));
      expect_same_bits(out[3], run(d, kernels, 1, 620));
    }
  });
}

TEST(Attend, ANaNScoreSpoilsItsQueryAlone) {
  Sequence sequence({.heads = 1}, 40, 9);
  const std::size_t width = 32;
  for (std::size_t i = 0; i < width; ++i) sequence.q[20 * width + i] = std::numeric_limits<float>::quiet_NaN();
  for_each_isa([&](const Kernels& kernels) {
    const std::vector<float> out = run(sequence, kernels, 2, 40);
    for (std::size_t i = 0; i < width; ++i) EXPECT_TRUE(std::isnan(out[20 * width + i]));
    std::vector<int> others = first_tokens(40);
    others.erase(others.begin() + 20);
    expect_rows(sequence, out, others);
  });
}

// What roundings may move an output by, as a share of its terms: those of a score (its chain and the scaled query) and
// of its distance from the maximum act on the exponent; exp itself and the chain over a part's rows, rescales and
// merges add theirs; the sum of weights has them too.
double attend_bound(const AttendCase& query, int rows) {
  const double u = 0x1p-24;
  double most = 0;
  for (int row = 0; row < rows; ++row) {
    double terms = 0;
    for (std::size_t i = 0; i < query.q.size(); ++i) {
      terms +=
          std::fabs(static_cast<double>(query.q[i]) * query.scale * (*query.keys)[static_cast<std::size_t>(row)][i]);
    }
    most = std::max(most, terms);
  }
  const double score = (static_cast<double>(query.q.size()) + 1) * u * most + 2 * most * u;
  const double parts = rows / 512 + 1, chain = (512 + 32 + 3 * parts + 8) * u;
  return 2 * (score + chain);
}

TEST(Attend, IsNearTheMathematics) {
  for (const float deviation : {1.0f, 8.0f}) {  // Of the logits.
    Shape shape{.heads = 1, .key_dim = 64, .value_dim = 64, .sinks = true, .size = deviation};
    shape.key_type = shape.value_type = RowType::kF32;
    const Sequence sequence(shape, 1200, 10);
    for (const int token : {0, 15, 511, 600, 1199}) {
      const AttendCase query = sequence.query(token, 0);
      const std::vector<float> found = rule::attend(query);
      const std::vector<double> wanted = exact::attend(query), terms = exact::attend_terms(query);
      const double bound = attend_bound(query, token + 1);
      for (std::size_t i = 0; i < found.size(); ++i) EXPECT_LE(std::fabs(found[i] - wanted[i]), bound * terms[i]);
    }
  }
}

}  // namespace
}  // namespace plait
