// The gated delta rule over rows and anchors: the bits of its rule for any split, draft, company, threads and
// instruction set; precision.
#include <gtest/gtest.h>

#include <vector>

#include "support/for_each_isa.h"
#include "support/recur_layer.h"

namespace plait {
namespace {

// What a whole sequence is to give: by value head.
struct Wanted {
  explicit Wanted(const RecurSequence& s) : sequence(s) {
    for (int head = 0; head < s.shape.value_heads; ++head) traces.push_back(rule::recur(s.head(head)));
  }
  const RecurSequence& sequence;
  std::vector<RecurTrace> traces;
};

void expect_same(const float* found, const float* wanted, int count) {
  const auto n = static_cast<std::size_t>(count);
  if (std::memcmp(found, wanted, n * sizeof(float)) == 0) return;
  expect_same_bits({found, n}, {wanted, n});
}

void expect_outputs(const Wanted& wanted, const RecurTrack& track, int begin = 0) {
  const RecurShape& s = wanted.sequence.shape;
  for (int t = begin; t < track.position; ++t) {
    SCOPED_TRACE(t);
    for (int head = 0; head < s.value_heads; ++head) {
      expect_same(track.out.data() + t * s.value_width() + head * s.value_dim,
                  wanted.traces[static_cast<std::size_t>(head)].out.data() + t * s.value_dim, s.value_dim);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

// Rows of all blocks from token `begin` on.
void expect_rows(const Wanted& wanted, RecurLayer& layer, const RecurTrack& track, int begin = 0) {
  const RecurShape& s = wanted.sequence.shape;
  for (int t = begin; t < track.position; ++t) {
    SCOPED_TRACE(t);
    const int number = track.blocks[static_cast<std::size_t>(t / 16)], row = t % 16;
    if (number < 0) continue;
    const float* const k = layer.block(number);
    const float *const u = k + 16 * s.key_width(), *const a = u + 16 * s.value_width();
    for (int head = 0; head < s.key_heads; ++head) {
      expect_same(k + (head * 16 + row) * s.key_dim, wanted.sequence.k.data() + t * s.key_width() + head * s.key_dim,
                  s.key_dim);
    }
    for (int head = 0; head < s.value_heads; ++head) {
      const RecurTrace& trace = wanted.traces[static_cast<std::size_t>(head)];
      expect_same(u + (head * 16 + row) * s.value_dim, trace.u.data() + t * s.value_dim, s.value_dim);
      expect_same(a + head * 16 + row, wanted.sequence.decay.data() + t * s.value_heads + head, 1);
    }
    if (testing::Test::HasFatalFailure()) return;
  }
}

void expect_anchors(const Wanted& wanted, RecurLayer& layer, const RecurTrack& track) {
  const RecurShape& s = wanted.sequence.shape;
  const int floats = s.key_dim * s.value_dim;
  for (const auto& [position, slot] : track.anchors) {
    SCOPED_TRACE(position);
    for (int head = 0; head < s.value_heads; ++head) {
      const RecurTrace& trace = wanted.traces[static_cast<std::size_t>(head)];
      expect_same(layer.anchor(slot) + head * floats, trace.anchors[static_cast<std::size_t>(position / 16 - 1)].data(),
                  floats);
      if (testing::Test::HasFatalFailure()) return;
    }
    for (int i = 0; i < 32; ++i) ASSERT_TRUE(std::isnan(layer.anchor(slot)[s.value_heads * floats + i]));
  }
}

void expect_all(const Wanted& wanted, RecurLayer& layer, const RecurTrack& track) {
  expect_outputs(wanted, track);
  expect_rows(wanted, layer, track);
  expect_anchors(wanted, layer, track);
}

struct NamedShape {
  const char* name;
  RecurShape shape;
};
const NamedShape kShapes[] = {
    {"one head of 16", {}},
    {"32 x 48", {.key_dim = 32, .value_dim = 48}},
    {"80 x 16", {.key_dim = 80, .value_dim = 16}},
    {"64 x 64, two heads", {.key_heads = 2, .value_heads = 2, .key_dim = 64, .value_dim = 64}},
    {"16 x 240", {.key_dim = 16, .value_dim = 240}},
    {"128 x 128", {.key_dim = 128, .value_dim = 128}},
    {"six over two, grouped", {.key_heads = 2, .value_heads = 6, .key_dim = 32, .value_dim = 16}},
    {"six over two, tiled", {.key_heads = 2, .value_heads = 6, .key_dim = 32, .value_dim = 16, .tiled = true}},
};

TEST(Recur, GivesTheBitsOfItsRuleForAnySplitOfASequence) {
  const std::vector<std::vector<int>> splits = {{1},       {53},   {16},       {2},         {3},           {5},
                                                {7, 1, 9}, {8, 9}, {15, 1, 2}, {17, 33, 3}, {33, 4, 11, 5}};
  for (const NamedShape& named : kShapes) {
    SCOPED_TRACE(named.name);
    const RecurSequence sequence(named.shape, 53, 1);
    const Wanted wanted(sequence);
    // Where anchors and rows go; wide heads take each way once.
    const std::vector<unsigned> kinds =
        named.shape.key_dim < 64 ? std::vector<unsigned>{0, 1, 2, 3, 4, 5, 6, 7} : std::vector<unsigned>{0, 7};
    for_each_isa([&](const Kernels& kernels) {
      for (std::size_t i = 0; i < splits.size(); ++i) {
        SCOPED_TRACE(i);
        for (const unsigned kind : kinds) {
          SCOPED_TRACE(kind);
          RecurLayer layer(named.shape, kernels, i == 9 ? 3 : 1, 8, 8);
          RecurTrack track;
          for (std::size_t part = 0; track.position < 53; ++part) {
            layer.step({{.track = &track,
                         .sequence = &sequence,
                         .count = std::min(splits[i][part % splits[i].size()], 53 - track.position),
                         .all_anchors = (kind & 1) != 0,
                         .in_place = (kind & 2) != 0,
                         .scratch_chunks = (kind & 4) != 0}});
          }
          expect_all(wanted, layer, track);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    });
  }
}

// Wrong tokens over every place of a chunk, cut again at every length, across boundaries too.
TEST(Recur, TokensThatAreTakenBackLeaveNoTrace) {
  const RecurShape shape{.key_dim = 16, .value_dim = 32};
  const RecurSequence right(shape, 70, 1), wrong(shape, 70, 100);
  const Wanted wanted(right);
  for_each_isa([&](const Kernels& kernels) {
    for (int before = 16; before < 33; ++before) {
      for (int count = 1; count <= 19; ++count) {
        SCOPED_TRACE(testing::Message() << count << " after " << before);
        RecurLayer layer(shape, kernels, 1, 16, 16);
        RecurTrack track;
        layer.step({{.track = &track, .sequence = &right, .count = before}});
        const auto held = track.anchors;
        const int anchor = track.anchor;
        layer.step({{.track = &track, .sequence = &wrong, .count = count, .all_anchors = true}});
        track.position = before;  // Blocks stay, with rows of wrong tokens in them.
        track.anchor = anchor;
        track.anchors = held;
        layer.step({{.track = &track, .sequence = &right, .count = 1}});
        layer.step({{.track = &track, .sequence = &right, .count = 24}});
        expect_all(wanted, layer, track);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  });
}

// Tokens of a draft that were accepted stay as they are, and the next ones go on after them.
TEST(Recur, AcceptedTokensOfADraftNeedNotBeComputedAgain) {
  const RecurShape shape{.key_dim = 32, .value_dim = 16};
  const RecurSequence right(shape, 80, 1), wrong(shape, 80, 100);
  const Wanted wanted(right);
  for_each_isa([&](const Kernels& kernels) {
    RecurLayer layer(shape, kernels, 1);
    RecurTrack track;
    std::mt19937 random(3);
    while (track.position < 60) {
      const int accepted = static_cast<int>(random() % 6), drafted = accepted + static_cast<int>(random() % 6);
      RecurSequence mixed = right;  // Right as far as it will be accepted.
      const auto from = [&](const std::vector<float>& rows, std::vector<float>& to) {
        const std::size_t row = rows.size() / 80;
        std::copy(rows.begin() + static_cast<std::ptrdiff_t>(row) * (track.position + accepted + 1), rows.end(),
                  to.begin() + static_cast<std::ptrdiff_t>(row) * (track.position + accepted + 1));
      };
      from(wrong.q, mixed.q);
      from(wrong.k, mixed.k);
      from(wrong.v, mixed.v);
      from(wrong.decay, mixed.decay);
      from(wrong.beta, mixed.beta);
      const int past = track.position;
      layer.step({{.track = &track, .sequence = &mixed, .count = drafted + 1, .all_anchors = true}});
      track.position = past + accepted + 1;
      std::erase_if(track.anchors, [&](const auto& anchor) { return anchor.first > track.position; });
      track.anchor = track.anchors.empty() ? -1 : track.anchors.rbegin()->second;
      expect_all(wanted, layer, track);
      if (testing::Test::HasFatalFailure()) return;
    }
  });
}

TEST(Recur, AnAnchorAloneGoesOnAsIfNothingHadStopped) {
  const RecurShape shape{.key_heads = 1, .value_heads = 2, .key_dim = 32, .value_dim = 48};
  const RecurSequence sequence(shape, 75, 1);
  const Wanted wanted(sequence);
  for_each_isa([&](const Kernels& kernels) {
    RecurLayer layer(shape, kernels, 2);
    RecurTrack first;
    layer.step({{.track = &first, .sequence = &sequence, .count = 70, .all_anchors = true}});
    for (const auto& [position, slot] : first.anchors) {
      RecurTrack other{.position = position, .anchor = slot, .blocks = {}, .anchors = {}, .out = {}};
      other.blocks.assign(static_cast<std::size_t>(position / 16), -1);
      layer.step({{.track = &other, .sequence = &sequence, .count = 11}});
      expect_outputs(wanted, other, position);
      expect_rows(wanted, layer, other, position);
    }
    // An anchor and a copy of the rows after it.
    RecurTrack fork = first;
    const int copy = layer.take_block();
    std::memcpy(layer.block(copy), layer.block(first.blocks[4]), layer.block_bytes());
    fork.blocks[4] = copy;
    layer.step({{.track = &fork, .sequence = &sequence, .count = 5}});
    expect_all(wanted, layer, fork);
    expect_all(wanted, layer, first);
  });
}

TEST(Recur, NoAnchorIsAnAnchorOfZeros) {
  const RecurShape shape{.key_dim = 48, .value_dim = 64};
  const RecurSequence sequence(shape, 40, 1);
  const Wanted wanted(sequence);
  for_each_isa([&](const Kernels& kernels) {
    for (const int first : {1, 5, 40}) {
      RecurLayer layer(shape, kernels, 1);
      RecurTrack track;
      track.anchor = layer.take_slot();
      std::fill_n(layer.anchor(track.anchor), shape.key_dim * shape.value_dim, 0.0f);
      layer.step({{.track = &track, .sequence = &sequence, .count = first, .in_place = true}});
      if (track.position < 40) layer.step({{.track = &track, .sequence = &sequence, .count = 40 - track.position}});
      expect_all(wanted, layer, track);
    }
  });
}

TEST(Recur, GivesTheSameBitsInCompanyAndForAnyThreads) {
  const RecurShape shape{.key_heads = 3, .value_heads = 6, .key_dim = 16, .value_dim = 16, .tiled = true};
  const RecurSequence a(shape, 100, 1), b(shape, 40, 10), c(shape, 2, 20);
  const Wanted wanted_a(a), wanted_b(b), wanted_c(c);
  for_each_isa([&](const Kernels& kernels) {
    for (int threads = 1; threads <= 4; ++threads) {
      RecurLayer layer(shape, kernels, threads);
      RecurTrack at_a, at_b, at_c;
      layer.step({{.track = &at_a, .sequence = &a, .count = 80, .scratch_chunks = true}});
      layer.step({{.track = &at_b, .sequence = &b, .count = 7}, {.track = &at_a, .sequence = &a, .count = 1}});
      layer.step({{.track = &at_a, .sequence = &a, .count = 9},
                  {.track = &at_c, .sequence = &c, .count = 1},
                  {.track = &at_b, .sequence = &b, .count = 31}});
      layer.step({{.track = &at_c, .sequence = &c, .count = 1},
                  {.track = &at_b, .sequence = &b, .count = 1},
                  {.track = &at_a, .sequence = &a, .count = 10}});
      expect_all(wanted_a, layer, at_a);
      expect_all(wanted_b, layer, at_b);
      expect_all(wanted_c, layer, at_c);
    }
  });
}

TEST(Recur, NothingInIsNothingOut) {
  const RecurShape shape{.key_dim = 64, .value_dim = 64};
  RecurSequence sequence(shape, 50, 1);
  for (auto* numbers : {&sequence.q, &sequence.k, &sequence.v, &sequence.decay, &sequence.beta}) {
    std::fill(numbers->begin(), numbers->end(), 0.0f);
  }
  for_each_isa([&](const Kernels& kernels) {
    RecurLayer layer(shape, kernels, 1);
    RecurTrack track;
    layer.step({{.track = &track, .sequence = &sequence, .count = 50}});
    for (const float value : track.out) ASSERT_EQ(value, 0.0f);
  });
}

// Numbers made of integers alone, so that they are the same everywhere: in [-1, 1).
class Integers {
 public:
  float next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<float>(static_cast<int>(state_ >> 40) - (1 << 23)) * 0x1p-23f;
  }

 private:
  std::uint64_t state_ = 1;
};

// The arithmetic is a contract with saved states and golden files: whoever changes it changes this number.
TEST(Recur, ItsBitsAreThoseThatWereRecorded) {
  const RecurShape shape{.key_heads = 1, .value_heads = 2, .key_dim = 64, .value_dim = 64};
  RecurSequence sequence(shape, 100, 1);
  Integers numbers;
  for (float& x : sequence.q) x = numbers.next() * 0.125f;
  for (float& x : sequence.k) x = numbers.next() * 0.125f;
  for (float& x : sequence.v) x = numbers.next();
  for (float& x : sequence.decay) x = 1 - 0.25f * (numbers.next() + 1);
  for (float& x : sequence.beta) x = 0.5f * (numbers.next() + 1);
  for_each_isa([&](const Kernels& kernels) {
    RecurLayer layer(shape, kernels, 1);
    RecurTrack track;
    layer.step({{.track = &track, .sequence = &sequence, .count = 100}});
    std::uint64_t sum = 14695981039346656037u;
    for (const float value : track.out) sum = (sum ^ std::bit_cast<std::uint32_t>(value)) * 1099511628211u;
    EXPECT_EQ(sum, 13814464119619424534u);
  });
}

}  // namespace
}  // namespace plait
