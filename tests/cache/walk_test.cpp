// Cache: random walks over sequences of a pretended hybrid, which finds out whatever is not where it should be.
//
// Its layers remember what real ones do: all rows, a window of rows, the last rows before a convolution, and the rows
// of a chunk beside an anchor. A row is its token; an anchor is a hash of all tokens before it.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/random.h"
#include "cache/cache.h"
#include "support/memory_backend.h"

namespace plait {
namespace {

constexpr int kWindow = 20, kTaps = 3;
enum Layer { kAll, kWindowed, kConv, kRecurrent };

std::vector<StateSpec> hybrid_layers() {
  std::vector<StateSpec> layers(4);
  layers[kAll].rows[0] = {.bytes = 4};
  layers[kWindowed].rows[0] = {.bytes = 4, .window = kWindow};
  layers[kConv].rows[0] = {.bytes = 4, .window = kTaps, .read_in_pass = false};
  layers[kRecurrent].rows[0] = {.bytes = 4, .window = kSinceAnchor, .read_in_pass = false};
  layers[kRecurrent].anchor_bytes = 8;
  return layers;
}

std::uint64_t hash_of(std::span<const Token> tokens) {
  std::uint64_t hash = 0;
  for (const Token token : tokens) hash = random_bits(hash, static_cast<std::uint64_t>(token));
  return hash;
}

class PretendedModel {
 public:
  explicit PretendedModel(Cache& cache) : cache_(cache) {}

  void forward(const Segment& segment, std::span<const Token> tokens) {
    const int end = segment.past + segment.count;
    read_earlier(segment, tokens);
    for (int layer = 0; layer < 4; ++layer) {
      for (int p = segment.past; p < end; ++p) {
        if (Token* to = row(static_cast<Layer>(layer), segment, p)) *to = tokens[static_cast<std::size_t>(p)];
      }
    }
    for (int p = 0; p < end; ++p) expect(kAll, segment, p, tokens);
    for (int p = std::max(0, segment.past - kWindow + 1); p < end; ++p) expect(kWindowed, segment, p, tokens);
    ASSERT_TRUE(std::is_sorted(segment.anchors_out.begin(), segment.anchors_out.end(),
                               [](const AnchorOut& a, const AnchorOut& b) { return a.position < b.position; }));
    const int last = end / kChunkTokens * kChunkTokens;
    ASSERT_EQ(last > segment.past, !segment.anchors_out.empty());
    for (const AnchorOut& out : segment.anchors_out) {
      ASSERT_TRUE(out.position % kChunkTokens == 0 && out.position > segment.past && out.position <= end);
      anchor(out.slot) = hash_of(tokens.first(static_cast<std::size_t>(out.position)));
    }
    if (last > segment.past) {
      ASSERT_EQ(segment.anchors_out.back().position, last);
    }
  }

 private:
  // What earlier passes left, before this one writes.
  void read_earlier(const Segment& segment, std::span<const Token> tokens) {
    const int base = segment.past / kChunkTokens * kChunkTokens;
    for (int p = base; p < segment.past; ++p) expect(kRecurrent, segment, p, tokens);
    for (int p = std::max(0, segment.past - kTaps + 1); p < segment.past; ++p) expect(kConv, segment, p, tokens);
    ASSERT_EQ(base > 0, segment.anchor_in >= 0);
    if (base > 0) {
      ASSERT_EQ(anchor(segment.anchor_in), hash_of(tokens.first(static_cast<std::size_t>(base))));
    }
  }
  void expect(Layer layer, const Segment& segment, int position, std::span<const Token> tokens) {
    const Token* found = row(layer, segment, position);
    ASSERT_NE(found, nullptr) << "layer " << layer << ", position " << position;
    ASSERT_EQ(*found, tokens[static_cast<std::size_t>(position)]) << "layer " << layer << ", position " << position;
  }
  Token* row(Layer layer, const Segment& segment, int position) {
    const RowStream& stream = cache_.states()[layer].rows[0];
    const int block =
        segment.blocks[static_cast<std::size_t>(stream.group)][static_cast<std::size_t>(position / kBlockTokens)];
    if (block < 0) return nullptr;
    std::byte* at = stream.buffer->host() + stream.offset + static_cast<std::size_t>(block) * stream.stride;
    return reinterpret_cast<Token*>(at) + position % kBlockTokens;
  }
  std::uint64_t& anchor(int slot) {
    const LayerState& state = cache_.states()[kRecurrent];
    std::byte* at = state.anchors->host() + state.anchor_offset + static_cast<std::size_t>(slot) * state.anchor_stride;
    return *reinterpret_cast<std::uint64_t*>(at);
  }

  Cache& cache_;
};

class Walk {
 public:
  Walk(std::uint64_t seed, std::size_t extra_bytes) : seed_(seed) {
    const std::vector<StateSpec> layers = hybrid_layers();
    cache_ = std::move(*Cache::create(backend_, layers, state_cost(layers).context(128) + extra_bytes));
  }

  void step() {
    const int act = draw(16);
    if (act <= 1 && open_.size() < 8) {
      std::vector<Token> tokens(static_cast<std::size_t>(draw(90)));
      std::iota(tokens.begin(), tokens.end(), fresh());
      open_.push_back(cache_->open(tokens));
    } else if (act == 2 && !open_.empty()) {
      cache_->close(pick(open_));
      open_.erase(open_.begin() + picked_);
    } else if (act <= 4 && !open_.empty() && open_.size() < 8) {
      fork();
    } else if (act == 5 && !open_.empty() && snapshots_.size() < 6) {
      snapshots_.push_back(cache_->snapshot(*pick(open_)));
    } else if (act == 6 && !snapshots_.empty()) {
      cache_->drop(pick(snapshots_));
      snapshots_.erase(snapshots_.begin() + picked_);
    } else if (act == 7 && !snapshots_.empty() && open_.size() < 8) {
      Snapshot* snapshot = pick(snapshots_);
      if (const auto resumed = cache_->resume(*snapshot)) {
        open_.push_back(*resumed);
        ASSERT_EQ((*resumed)->computed(), snapshot->position());
      }
    } else if (act <= 9 && !open_.empty()) {
      append(*pick(open_), draw(9));
    } else {
      compute();
    }
    cache_->check_integrity();
  }
  void finish() {
    for (Sequence* sequence : open_) cache_->close(sequence);
    for (Snapshot* snapshot : snapshots_) cache_->drop(snapshot);
    cache_->check_integrity();
    ASSERT_EQ(cache_->stats().used_bytes, 0u);
  }
  int steps_done() const { return computed_; }

 private:
  int draw(int below) { return static_cast<int>(random_bits(seed_, draws_++) % static_cast<std::uint64_t>(below)); }
  int fresh() { return token_ += 100; }
  template <class T>
  T* pick(const std::vector<T*>& all) {
    picked_ = draw(static_cast<int>(all.size()));
    return all[static_cast<std::size_t>(picked_)];
  }
  void append(Sequence& sequence, int count) {
    const int first = fresh();
    for (int i = 0; i < count; ++i) sequence.append(first + i);
  }

  void fork() {
    Sequence* sequence = pick(open_);
    const int at = draw(sequence->computed() + 1);
    const auto copy = cache_->fork(*sequence, at);
    if (!copy) return;
    open_.push_back(*copy);
    ASSERT_EQ((*copy)->known(), at);
    ASSERT_LE((*copy)->computed(), at);
    if (at == sequence->computed()) {
      ASSERT_EQ((*copy)->computed(), at);
    }
  }

  void compute() {
    std::vector<Work> work;
    for (Sequence* s : open_) {
      const int left = s->known() - s->computed();
      if (left == 0 || draw(3) == 0) continue;
      const int count = 1 + draw(left);
      work.push_back({.sequence = s, .count = count, .uncertain = draw(2) == 0 ? draw(count + 1) : 0});
    }
    const CacheStats before = cache_->stats();
    if (!cache_->prepare(work, batch_)) {
      ASSERT_EQ(cache_->stats().used_bytes, before.used_bytes);
      return;
    }
    cache_->check_integrity();
    PretendedModel model(*cache_);
    for (std::size_t i = 0; i < work.size(); ++i) {
      model.forward(batch_.segments[i], work[i].sequence->tokens());
      if (testing::Test::HasFatalFailure()) return;
    }
    for (const Work& w : work) {
      const int accepted = w.count - draw(w.uncertain + 1);
      const int from = w.sequence->computed(), known = w.sequence->known();
      cache_->commit(w.sequence, accepted);
      ASSERT_EQ(w.sequence->computed(), from + accepted);
      ASSERT_EQ(w.sequence->known(), accepted == w.count ? known : from + accepted);
    }
    ++computed_;
  }

  MemoryBackend backend_;
  std::unique_ptr<Cache> cache_;
  Batch batch_;
  std::uint64_t seed_, draws_ = 0;
  int token_ = 0, computed_ = 0;
  std::ptrdiff_t picked_ = 0;
  std::vector<Sequence*> open_;
  std::vector<Snapshot*> snapshots_;
};

TEST(Cache, FindsEverythingWhereItWasOnRandomWalks) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Walk walk(seed, seed * 1200);
    for (int step = 0; step < 4000; ++step) {
      walk.step();
      if (testing::Test::HasFatalFailure()) FAIL() << "seed " << seed << ", step " << step;
    }
    EXPECT_GT(walk.steps_done(), 150) << "seed " << seed;
    walk.finish();
  }
}

}  // namespace
}  // namespace plait
