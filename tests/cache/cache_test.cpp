// Cache: batches, budgets and errors as tables; forks and cuts; random walks over integers and over bytes.
#include "cache/cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <numeric>

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
    const std::size_t bytes = state_cost(layers).context(blocks * kBlockTokens);
    cache = std::move(*Cache::create(backend, layers, bytes));
  }
  int free_blocks() const {
    std::size_t bytes = 0;
    for (const StreamGroup& group : cache->cost().groups) bytes += group.block_bytes;
    return static_cast<int>(cache->stats().free_bytes() / bytes);
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
  const std::vector<Work> work{{.sequence = b, .count = 3}, {.sequence = a, .count = 2, .all_outputs = true}};
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
  EXPECT_EQ(f.free_blocks(), 4);
  run(f, {{.sequence = s, .count = 16}});
  EXPECT_EQ(f.free_blocks(), 3);
  run(f, {{.sequence = s, .count = 1}});
  EXPECT_EQ(f.free_blocks(), 2);
  run(f, {{.sequence = s, .count = 15}});
  EXPECT_EQ(f.free_blocks(), 2);
  f.cache->close(s);
  EXPECT_EQ(f.free_blocks(), 4);
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
  EXPECT_EQ(prepared.error().message, "4352 bytes of memory wanted for rows and anchors, 768 bytes free");
  EXPECT_EQ(f.free_blocks(), 3);
  EXPECT_EQ(small->prepared(), 0);
  f.cache->check_integrity();
  run(f, {{.sequence = small, .count = 16}});
}

TEST(Cache, CutsWhatWasNotAccepted) {
  Fixture f(4);
  Sequence* s = f.cache->open(numbered(14));
  run(f, {{.sequence = s, .count = 13}});
  for (int i = 0; i < 20; ++i) s->append(500 + i);
  const std::vector<Work> work{{.sequence = s, .count = 21, .all_outputs = true, .uncertain = 20}};
  ASSERT_TRUE(f.cache->prepare(work, f.batch));
  EXPECT_EQ(f.free_blocks(), 1);
  f.cache->commit(s, 4);  // The last of the prompt and three drafted tokens.
  f.cache->check_integrity();
  EXPECT_EQ(s->known(), 17);
  EXPECT_EQ(s->computed(), 17);
  EXPECT_EQ(s->tokens().back(), 502);
  EXPECT_EQ(f.free_blocks(), 2);
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
  EXPECT_EQ(f.free_blocks(), 4);
  f.cache->close(s);
  f.cache->check_integrity();
  EXPECT_EQ(f.free_blocks(), 6);
  auto whole = f.cache->fork(*copy, 16);  // Whole blocks cost nothing.
  ASSERT_TRUE(whole);
  EXPECT_EQ(f.free_blocks(), 6);
}

TEST(Cache, SaysThatAForkHasNoBlockForItsCopy) {
  Fixture f(1);
  Sequence* s = f.cache->open(numbered(5));
  run(f, {{.sequence = s, .count = 5}});
  const auto forked = f.cache->fork(*s, 3);
  ASSERT_FALSE(forked);
  EXPECT_EQ(forked.error().code, ErrorCode::kNoMemory);
  EXPECT_THAT(forked.error().message,
              HasSubstr("256 bytes of memory wanted for the copy of a partial block, 0 bytes free"));
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
  std::vector<StateSpec> layers{layer(5, 7), layer(4, 12)};
  layers[0].anchor_bytes = 100;
  layers[1].anchor_bytes = 64;
  Fixture f(3, layers);
  std::size_t end = 0;
  for (const LayerState& state : f.cache->states()) {
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(state.rows[i].offset, end);
      EXPECT_EQ(state.rows[i].block_bytes % 64, 0u);
      end += state.rows[i].block_bytes;
    }
    EXPECT_EQ(state.rows[2].buffer, nullptr);
  }
  for (const LayerState& state : f.cache->states()) {
    for (int i = 0; i < 2; ++i) EXPECT_EQ(state.rows[i].stride, end);
  }
  EXPECT_EQ(f.cache->states()[0].anchor_offset, 0u);
  EXPECT_EQ(f.cache->states()[1].anchor_offset, 128u);
  EXPECT_EQ(f.cache->states()[1].anchor_stride, 192u);
}

// A layer of attention and a recurrent one: 64 bytes a block, 128 a chunk, 192 an anchor.
std::vector<StateSpec> hybrid() {
  std::vector<StateSpec> layers(2);
  layers[0].rows[0] = {.bytes = 4};
  layers[1].rows[0] = {.bytes = 8, .window = kSinceAnchor, .read_in_pass = false};
  layers[1].anchor_bytes = 192;
  return layers;
}

TEST(HybridCache, HoldsOneAnchorAndOneChunkHoweverLongItRuns) {
  Fixture f(100, hybrid());
  Sequence* s = f.cache->open(numbered(600));
  run(f, {{.sequence = s, .count = 500}});
  for (int p = 500; p < 600; ++p) {
    run(f, {{.sequence = s, .count = 1}});
    EXPECT_EQ(f.cache->stats().used_bytes, f.cache->cost().held(p + 1));
    EXPECT_LE(f.cache->stats().used_bytes, static_cast<std::size_t>(blocks_for(p + 1)) * 64 + 128 + 192);
  }
}

TEST(HybridCache, GivesNoBlockToRowsThatNobodyReadsLater) {
  Fixture f(100, hybrid());
  Sequence* s = f.cache->open(numbered(100));
  run(f, {{.sequence = s, .count = 100}});
  const Segment& segment = f.batch.segments[0];
  EXPECT_THAT(segment.blocks[1], ElementsAre(-1, -1, -1, -1, -1, -1, 0));
  ASSERT_EQ(segment.anchors_out.size(), 1u);
  EXPECT_EQ(segment.anchors_out[0].position, 96);
}

TEST(HybridCache, KeepsEveryPlaceWhereDraftsMayBeCut) {
  Fixture f(100, hybrid());
  Sequence* s = f.cache->open(numbered(60));
  run(f, {{.sequence = s, .count = 30}});
  const std::vector<Work> work{{.sequence = s, .count = 20, .uncertain = 19}};
  ASSERT_TRUE(f.cache->prepare(work, f.batch));
  ASSERT_EQ(f.batch.segments[0].anchors_out.size(), 2u);
  EXPECT_NE(f.batch.segments[0].anchors_out[0].slot, s->anchor());  // The one at 16 may still be needed.
  const int first = f.batch.segments[0].anchors_out[0].slot;
  f.cache->commit(s, 5);
  f.cache->check_integrity();
  EXPECT_EQ(s->anchor(), first);
  EXPECT_EQ(f.cache->stats().used_bytes, f.cache->cost().held(35));
}

TEST(HybridCacheDeathTest, AcceptsAllThatWasCertain) {
  Fixture f(100, hybrid());
  Sequence* s = f.cache->open(numbered(60));
  const std::vector<Work> work{{.sequence = s, .count = 20, .uncertain = 3}};
  ASSERT_TRUE(f.cache->prepare(work, f.batch));
  EXPECT_DEATH(f.cache->commit(s, 16), "accepted, but for drafts");
}

TEST(HybridCache, ForksFromTheNearestPositionThatIsKept) {
  Fixture f(100, hybrid());
  Sequence* s = f.cache->open(numbered(200));
  run(f, {{.sequence = s, .count = 70}});
  Snapshot* kept = f.cache->snapshot(*s);
  run(f, {{.sequence = s, .count = 50}});
  const std::pair<int, int> cases[] = {{120, 120}, {112, 112}, {111, 70}, {70, 70},
                                       {69, 69},   {64, 64},   {63, 0},   {0, 0}};
  for (const auto& [at, resumed] : cases) {
    const auto copy = f.cache->fork(*s, at);
    ASSERT_TRUE(copy);
    EXPECT_EQ((*copy)->computed(), resumed) << at;
    EXPECT_EQ((*copy)->known(), at);
    f.cache->check_integrity();
    f.cache->close(*copy);
  }
  f.cache->drop(kept);
  const auto copy = f.cache->fork(*s, 111);
  EXPECT_EQ((*copy)->computed(), 0);
}

TEST(HybridCache, SharesAnAnchorUntilSomebodyPassesIt) {
  Fixture f(100, hybrid());
  Sequence* s = f.cache->open(numbered(200));
  run(f, {{.sequence = s, .count = 64}});
  const std::size_t alone = f.cache->stats().used_bytes;
  Snapshot* kept = f.cache->snapshot(*s);
  const auto copy = f.cache->resume(*kept);
  ASSERT_TRUE(copy);
  EXPECT_EQ(f.cache->stats().used_bytes, alone);  // References only.
  const int shared = s->anchor();
  EXPECT_EQ((*copy)->anchor(), shared);
  run(f, {{.sequence = s, .count = 16}});
  EXPECT_NE(s->anchor(), shared);
  EXPECT_EQ((*copy)->anchor(), shared);
  f.cache->drop(kept);
  (*copy)->append(7);
  run(f, {{.sequence = *copy, .count = 1}});
}

TEST(HybridCache, TouchesNoMoreMemoryThanItsBudget) {
  const std::vector<StateSpec> layers = hybrid();
  MemoryBackend backend;
  auto cache = std::move(*Cache::create(backend, layers, 64 * 100));
  Batch batch;
  Sequence* s = cache->open(numbered(1400));
  const Work rows{.sequence = s, .count = 1400};
  ASSERT_TRUE(cache->prepare({&rows, 1}, batch));
  cache->commit(s, 1400);
  cache->close(s);
  EXPECT_GT(cache->stats().touched_bytes, 5600u);
  for (int i = 0; i < 12; ++i) {  // Now it is anchors that are wanted.
    const Work work{.sequence = cache->open(numbered(20)), .count = 20};
    ASSERT_TRUE(cache->prepare({&work, 1}, batch));
    cache->commit(work.sequence, 20);
    cache->check_integrity();
  }
  EXPECT_EQ(cache->stats().used_bytes, 12u * (2 * 64 + 128 + 192));
}

TEST(CacheBudget, GivesWholeBlocksWithinIt) {
  MemoryBackend backend;
  const std::vector<StateSpec> layers{layer(4, 4)};  // 128 bytes a block.
  for (const auto& [bytes, blocks] :
       std::vector<std::pair<std::size_t, int>>{{128, 1}, {255, 1}, {256, 2}, {1280, 10}}) {
    auto cache = Cache::create(backend, layers, bytes);
    ASSERT_TRUE(cache);
    EXPECT_EQ((*cache)->stats().budget_bytes, bytes);
    Sequence* s = (*cache)->open(numbered(500));
    Batch batch;
    const Work most{.sequence = s, .count = blocks * kBlockTokens}, more{.sequence = s, .count = most.count + 1};
    EXPECT_FALSE((*cache)->prepare({&more, 1}, batch));
    EXPECT_TRUE((*cache)->prepare({&most, 1}, batch));
    EXPECT_EQ((*cache)->stats().used_bytes, static_cast<std::size_t>(blocks) * 128);
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
  const StateCost cost = state_cost(layers);
  EXPECT_EQ(cost.token_bytes, 24576u);
  EXPECT_EQ(cost.context(4096), std::size_t{96} << 20);
  EXPECT_EQ(cost.context(1), 384u << 10);
  EXPECT_EQ(cost.context(0), 0u);
  EXPECT_EQ(cost.tokens_that_fit(std::size_t{21} << 20), 896);
}

TEST(CacheBudget, CountsWhatATokenReads) {
  StateSpec hybrid;
  hybrid.anchor_bytes = 1000;
  hybrid.rows[0] = {.bytes = 8, .window = kSinceAnchor, .read_in_pass = false};
  const std::vector<StateSpec> layers = {layer(4, 4), layer(16, 16, 10), hybrid};
  const StateCost cost = state_cost(layers);
  EXPECT_EQ(cost.read(0), 0u);
  EXPECT_EQ(cost.read(7), 7u * 8 + 7 * 32 + 7 * 8);
  EXPECT_EQ(cost.read(40), 40u * 8 + 9 * 32 + 8 * 8 + 1024) << "a window, a chunk under way, and an aligned anchor";
}

TEST(CacheBudget, DoesNotOverflow) {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  constexpr int kLarge = std::numeric_limits<int>::max();
  const std::vector<StateSpec> layers(1000, layer(kLarge, kLarge));
  EXPECT_EQ(state_cost(layers).context(kLarge), kMost);
  EXPECT_EQ(state_cost(layers).tokens_that_fit(1000), 0);
  EXPECT_GT(state_cost(std::vector<StateSpec>{layer(1, 1)}).tokens_that_fit(kMost), 0);
  EXPECT_EQ(blocks_for(kLarge), kLarge / 16 + 1);
  MemoryBackend backend;
  EXPECT_FALSE(Cache::create(backend, layers, kMost));
}

}  // namespace
}  // namespace plait
