// Cache: batches, budgets and errors as tables; forks and cuts; random walks over integers and over bytes.
#include "cache/cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <numeric>

#include "base/random.h"
#include "cache/state_store.h"
#include "support/memory_backend.h"

namespace plait {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

StateSpec layer(int key_bytes, int value_bytes, int window = 0) {
  StateSpec spec;
  spec.rows[0] = {.bytes = key_bytes, .window = window};
  spec.rows[1] = {.bytes = value_bytes, .window = window};
  return spec;
}

std::vector<Token> numbered(int count, int first = 0) {
  std::vector<Token> tokens(static_cast<std::size_t>(count));
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}

struct Fixture {
  // `blocks` blocks of two layers of 4 + 4 bytes a token: 2 * 2 * 64 bytes a block.
  explicit Fixture(int blocks, std::vector<StateSpec> specs = {layer(4, 4), layer(4, 4)}) : layers(std::move(specs)) {
    const std::size_t bytes = Cache::context_bytes(layers, blocks * kBlockTokens);
    cache = std::move(*Cache::create(backend, layers, bytes));
  }
  MemoryBackend backend;
  std::vector<StateSpec> layers;
  std::unique_ptr<Cache> cache;
  Batch batch;
};

void run(Fixture& f, std::vector<Work> work) {
  ASSERT_TRUE(f.cache->prepare(work, f.batch));
  for (const Work& w : work) f.cache->commit(w.sequence, w.count);
  f.cache->check_integrity();
}

TEST(Cache, LaysOutTheBatchInTheGivenOrder) {
  Fixture f(8);
  Sequence* a = f.cache->open(numbered(20, 100));
  Sequence* b = f.cache->open(numbered(3, 200));
  run(f, {{.sequence = a, .count = 18}});
  EXPECT_THAT(f.batch.outputs, IsEmpty());  // The last known token is not among them.
  const std::vector<Work> work{{.sequence = b, .count = 3}, {.sequence = a, .count = 2, .all_logits = true}};
  ASSERT_TRUE(f.cache->prepare(work, f.batch));
  EXPECT_THAT(f.batch.tokens, ElementsAre(200, 201, 202, 118, 119));
  EXPECT_THAT(f.batch.positions, ElementsAre(0, 1, 2, 18, 19));
  EXPECT_THAT(f.batch.outputs, ElementsAre(2, 3, 4));
  ASSERT_EQ(f.batch.segments.size(), 2u);
  EXPECT_EQ(f.batch.segments[1].begin, 3);
  EXPECT_EQ(f.batch.segments[1].count, 2);
  EXPECT_EQ(f.batch.segments[1].past, 18);
  EXPECT_EQ(f.batch.segments[1].anchor_in, -1);
  ASSERT_EQ(f.batch.segments[1].blocks.size(), 1u);
  EXPECT_THAT(f.batch.segments[1].blocks[0], ElementsAre(0, 1));
  EXPECT_THAT(f.batch.segments[0].blocks[0], ElementsAre(2));
}

TEST(Cache, TakesBlocksOnlyWhenRowsNeedThem) {
  Fixture f(4);
  Sequence* s = f.cache->open(numbered(40));
  EXPECT_EQ(f.cache->stats().free_blocks, 4);
  run(f, {{.sequence = s, .count = 16}});
  EXPECT_EQ(f.cache->stats().free_blocks, 3);
  run(f, {{.sequence = s, .count = 1}});
  EXPECT_EQ(f.cache->stats().free_blocks, 2);
  run(f, {{.sequence = s, .count = 15}});
  EXPECT_EQ(f.cache->stats().free_blocks, 2);
  f.cache->close(s);
  EXPECT_EQ(f.cache->stats().free_blocks, 4);
  EXPECT_EQ(f.cache->stats().sequences, 0);
}

TEST(Cache, RefusesWorkBeyondItsBlocksAndChangesNothing) {
  Fixture f(3);
  Sequence* small = f.cache->open(numbered(16));
  Sequence* large = f.cache->open(numbered(256));
  const std::vector<Work> work{{.sequence = small, .count = 16}, {.sequence = large, .count = 256}};
  const auto prepared = f.cache->prepare(work, f.batch);
  ASSERT_FALSE(prepared);
  EXPECT_EQ(prepared.error().code, ErrorCode::kNoMemory);
  EXPECT_EQ(prepared.error().message, "17 blocks wanted, 3 free");
  EXPECT_EQ(f.cache->stats().free_blocks, 3);
  EXPECT_EQ(small->prepared(), 0);
  f.cache->check_integrity();
  run(f, {{.sequence = small, .count = 16}});
}

TEST(Cache, CutsWhatWasNotAccepted) {
  Fixture f(4);
  Sequence* s = f.cache->open(numbered(14));
  run(f, {{.sequence = s, .count = 13}});
  for (int i = 0; i < 20; ++i) s->append(500 + i);
  const std::vector<Work> work{{.sequence = s, .count = 21, .all_logits = true}};
  ASSERT_TRUE(f.cache->prepare(work, f.batch));
  EXPECT_EQ(f.cache->stats().free_blocks, 1);
  f.cache->commit(s, 4);  // The last of the prompt and three drafted tokens.
  f.cache->check_integrity();
  EXPECT_EQ(s->known(), 17);
  EXPECT_EQ(s->computed(), 17);
  EXPECT_EQ(s->tokens().back(), 502);
  EXPECT_EQ(f.cache->stats().free_blocks, 2);
}

TEST(Cache, ForksByReferenceAndCopiesThePartialBlock) {
  Fixture f(8);
  Sequence* s = f.cache->open(numbered(40));
  run(f, {{.sequence = s, .count = 40}});
  const LayerState& state = f.cache->states()[1];
  const RowStream& values = state.rows[1];
  std::byte* memory = values.buffer->host() + values.offset;
  std::memset(memory + static_cast<std::size_t>(s->blocks(0)[1]) * values.stride, 7, values.block_bytes);
  auto forked = f.cache->fork(*s, 20);
  ASSERT_TRUE(forked);
  f.cache->check_integrity();
  Sequence* copy = *forked;
  EXPECT_EQ(copy->computed(), 20);
  EXPECT_EQ(copy->known(), 20);
  EXPECT_EQ(copy->blocks(0)[0], s->blocks(0)[0]);
  EXPECT_NE(copy->blocks(0)[1], s->blocks(0)[1]);
  EXPECT_EQ(memory[static_cast<std::size_t>(copy->blocks(0)[1]) * values.stride + 5], std::byte{7});
  EXPECT_EQ(f.cache->stats().free_blocks, 4);
  f.cache->close(s);
  f.cache->check_integrity();
  EXPECT_EQ(f.cache->stats().free_blocks, 6);
  auto whole = f.cache->fork(*copy, 16);  // Whole blocks cost nothing.
  ASSERT_TRUE(whole);
  EXPECT_EQ(f.cache->stats().free_blocks, 6);
}

TEST(Cache, SaysThatAForkHasNoBlockForItsCopy) {
  Fixture f(1);
  Sequence* s = f.cache->open(numbered(5));
  run(f, {{.sequence = s, .count = 5}});
  const auto forked = f.cache->fork(*s, 3);
  ASSERT_FALSE(forked);
  EXPECT_EQ(forked.error().code, ErrorCode::kNoMemory);
  EXPECT_THAT(forked.error().message, HasSubstr("1 block wanted"));
  f.cache->check_integrity();
}

TEST(Cache, GivesEachWindowItsOwnListOfBlocks) {
  Fixture f(4, {layer(4, 4), layer(8, 8, 128), layer(4, 4)});
  Sequence* s = f.cache->open(numbered(17));
  run(f, {{.sequence = s, .count = 17}});
  EXPECT_EQ(f.batch.segments[0].blocks.size(), 2u);
  EXPECT_EQ(f.cache->states()[0].rows[0].group, 0);
  EXPECT_EQ(f.cache->states()[1].rows[1].group, 1);
  EXPECT_EQ(f.cache->states()[2].rows[0].group, 0);
}

TEST(Cache, NeedsNoBlocksForAModelWithoutRows) {
  Fixture f(0, {StateSpec{}});
  Sequence* s = f.cache->open(numbered(100));
  run(f, {{.sequence = s, .count = 100}});
  EXPECT_TRUE(f.cache->fork(*s, 7));
}

TEST(Cache, PlacesStreamsApartAndAligned) {
  Fixture f(3, {layer(5, 7), layer(4, 12)});
  std::size_t end = 0;
  for (const LayerState& state : f.cache->states()) {
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(state.rows[i].offset, end);
      EXPECT_EQ(state.rows[i].block_bytes % 64, 0u);
      end += 3 * state.rows[i].block_bytes;
    }
    EXPECT_EQ(state.rows[2].buffer, nullptr);
  }
  EXPECT_LE(end, f.backend.allocated);
}

TEST(CacheBudget, TakesWholeBlocksWithinIt) {
  MemoryBackend backend;
  const std::vector<StateSpec> layers{layer(4, 4)};  // 128 bytes a block.
  for (const auto& [bytes, blocks] :
       std::vector<std::pair<std::size_t, int>>{{128, 1}, {255, 1}, {256, 2}, {1280, 10}}) {
    auto cache = Cache::create(backend, layers, bytes);
    ASSERT_TRUE(cache);
    EXPECT_EQ((*cache)->stats().blocks, blocks);
    EXPECT_EQ((*cache)->stats().block_bytes, 128u);
    EXPECT_EQ((*cache)->stats().budget_bytes, bytes);
  }
  const auto none = Cache::create(backend, layers, 127);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "one block of 16 tokens needs 128 bytes, the budget is 127 bytes");
}

TEST(CacheBudget, PassesOnThatTheBackendHasNoMemory) {
  MemoryBackend backend;
  backend.limit = 1000;
  const auto cache = Cache::create(backend, std::vector<StateSpec>{layer(4, 4)}, 1 << 20);
  ASSERT_FALSE(cache);
  EXPECT_EQ(cache.error().code, ErrorCode::kNoMemory);
}

TEST(CacheBudget, CountsInWholeBlocks) {
  const std::vector<StateSpec> layers(32, layer(384, 384));  // 24 KiB a token, 384 KiB a block.
  EXPECT_EQ(Cache::token_bytes(layers), 24576u);
  EXPECT_EQ(Cache::context_bytes(layers, 4096), std::size_t{96} << 20);
  EXPECT_EQ(Cache::context_bytes(layers, 1), 384u << 10);
  EXPECT_EQ(Cache::context_bytes(layers, 0), 0u);
  EXPECT_EQ(Cache::tokens_that_fit(layers, std::size_t{21} << 20), 896);
}

TEST(CacheBudget, DoesNotOverflow) {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  constexpr int kLarge = std::numeric_limits<int>::max();
  const std::vector<StateSpec> layers(1000, layer(kLarge, kLarge));
  EXPECT_EQ(Cache::context_bytes(layers, kLarge), kMost);
  EXPECT_EQ(Cache::tokens_that_fit(layers, 1000), 0);
  EXPECT_GT(Cache::tokens_that_fit(std::vector<StateSpec>{layer(1, 1)}, kMost), 0);
  EXPECT_EQ(blocks_for(kLarge), kLarge / 16 + 1);
  MemoryBackend backend;
  EXPECT_FALSE(Cache::create(backend, layers, kMost));
}

// Several sequences are opened, appended to, computed, cut, forked and closed at random. Each row's bytes are its
// token, and every sequence must find its own in its blocks whenever it looks.
class Walk {
 public:
  explicit Walk(std::uint64_t seed) : f_(12, {layer(4, 0), layer(4, 0, 64)}), seed_(seed) {}

  void step() {
    const std::uint64_t act = draw(10);
    if (act == 0 && open_.size() < 6) {
      open_.push_back(f_.cache->open(numbered(static_cast<int>(draw(60)), fresh())));
    } else if (act == 1 && !open_.empty()) {
      f_.cache->close(pick());
      open_.erase(open_.begin() + picked_);
    } else if (act == 2 && !open_.empty() && open_.size() < 6) {
      Sequence* s = pick();
      if (auto copy = f_.cache->fork(*s, static_cast<int>(draw(s->computed() + 1)))) open_.push_back(*copy);
    } else if (act <= 4 && !open_.empty()) {
      Sequence* s = pick();
      const int first = fresh();
      for (int i = 0, count = static_cast<int>(draw(9)); i < count; ++i) s->append(first + i);
    } else {
      compute();
    }
    f_.cache->check_integrity();
    verify();
  }

 private:
  std::uint64_t draw(int below) { return random_bits(seed_, draws_++) % static_cast<std::uint64_t>(below); }
  int fresh() { return token_ += 100; }
  Sequence* pick() {
    picked_ = static_cast<std::ptrdiff_t>(draw(static_cast<int>(open_.size())));
    return open_[static_cast<std::size_t>(picked_)];
  }
  Token& row(int layer_index, const Sequence& s, int position) {
    const RowStream& stream = f_.cache->states()[static_cast<std::size_t>(layer_index)].rows[0];
    const int block = s.blocks(stream.group)[static_cast<std::size_t>(position / kBlockTokens)];
    std::byte* at = stream.buffer->host() + stream.offset + static_cast<std::size_t>(block) * stream.stride;
    return reinterpret_cast<Token*>(at)[position % kBlockTokens];
  }
  void compute() {
    std::vector<Work> work;
    for (Sequence* s : open_) {
      const int left = s->known() - s->computed();
      if (left > 0 && draw(3) != 0) work.push_back({.sequence = s, .count = 1 + static_cast<int>(draw(left))});
    }
    const int free = f_.cache->stats().free_blocks;
    if (!f_.cache->prepare(work, f_.batch)) {
      ASSERT_EQ(f_.cache->stats().free_blocks, free);
      return;
    }
    f_.cache->check_integrity();
    for (const Work& w : work) {
      for (int i = 0; i < w.count; ++i) {
        const int position = w.sequence->computed() + i;
        for (int l = 0; l < 2; ++l)
          row(l, *w.sequence, position) = w.sequence->tokens()[static_cast<std::size_t>(position)];
      }
      const int accepted = draw(4) == 0 ? static_cast<int>(draw(w.count + 1)) : w.count;
      const int before = w.sequence->computed(), known = w.sequence->known();
      f_.cache->commit(w.sequence, accepted);
      ASSERT_EQ(w.sequence->computed(), before + accepted);
      ASSERT_EQ(w.sequence->known(), accepted == w.count ? known : before + accepted);
    }
  }
  void verify() {
    for (const Sequence* s : open_) {
      for (int p = 0; p < s->computed(); ++p) {
        for (int l = 0; l < 2; ++l) ASSERT_EQ(row(l, *s, p), s->tokens()[static_cast<std::size_t>(p)]);
      }
    }
  }

  Fixture f_;
  std::uint64_t seed_;
  std::uint64_t draws_ = 0;
  int token_ = 0;
  std::ptrdiff_t picked_ = 0;
  std::vector<Sequence*> open_;
};

TEST(Cache, KeepsCountsAndRowsOnRandomWalks) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    Walk walk(seed);
    for (int step = 0; step < 4000; ++step) {
      walk.step();
      if (testing::Test::HasFatalFailure()) FAIL() << "seed " << seed << ", step " << step;
    }
  }
}

}  // namespace
}  // namespace plait
