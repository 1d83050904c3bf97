// Causal convolution over rows and anchors: the bits of its rule for any split, draft, company and instruction set.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "support/for_each_isa.h"
#include "support/recur_layer.h"

namespace plait {
namespace {

struct Shape {
  int channels = 48, taps = 4;
  bool silu = true, anchored = true;
};

struct Sequence {
  Sequence(const Shape& s, int tokens_, unsigned seed)
      : shape(s),
        tokens(tokens_),
        x(random_floats(static_cast<std::size_t>(tokens * s.channels), seed)),
        weights(random_floats(static_cast<std::size_t>(s.taps * s.channels), 1000)) {}
  float input(int t, int c) const { return t < 0 ? 0.0f : x[static_cast<std::size_t>(t * shape.channels + c)]; }
  float wanted(int t, int c) const {
    float y = 0;
    for (int i = 0; i < shape.taps; ++i) {
      y = std::fma(weights[static_cast<std::size_t>(i * shape.channels + c)], input(t - shape.taps + 1 + i, c), y);
    }
    return shape.silu ? rule::silu(y) : y;
  }

  Shape shape;
  int tokens;
  std::vector<float> x, weights;
};

struct Track {
  int position = 0, anchor = -1;
  std::vector<int> blocks;
};

struct Work {
  Track* track;
  const Sequence* sequence;
  int count;
  bool in_place = false, scratch_chunks = false;
};

// All memory is NaN until it is written. Every anchor is left; what is right is checked after each step.
class Layer {
 public:
  Layer(const Shape& shape, const Kernels& kernels, int threads)
      : shape_(shape),
        kernels_(kernels),
        pool_(threads),
        block_floats_(static_cast<std::size_t>(16 * shape.channels)),
        anchor_floats_(static_cast<std::size_t>((shape.taps - 1) * shape.channels + 64)),
        rows_(kCount * block_floats_, std::nanf("")),
        anchors_(kCount * anchor_floats_, std::nanf("")) {
    const std::size_t bytes = block_floats_ * sizeof(float);
    state_.rows[1] = {.buffer = &rows_, .offset = 0, .stride = bytes, .block_bytes = bytes, .group = 0};
    state_.anchors = &anchors_;
    state_.anchor_stride = state_.anchor_bytes = anchor_floats_ * sizeof(float);
    for (int i = 0; i < static_cast<int>(kCount); ++i) free_.push_back(i);
    std::shuffle(free_.begin(), free_.end(), std::mt19937(1));
  }

  void step(const std::vector<Work>& work) {
    Batch batch;
    int tokens = 0;
    for (const Work& w : work) {
      batch.segments.push_back(segment(w, tokens));
      tokens += w.count;
    }
    FloatMemory x(static_cast<std::size_t>(tokens * shape_.channels)), out(x.bytes() / 4, std::nanf(""));
    float* to = x.data();
    for (const Work& w : work) {
      to = std::copy_n(w.sequence->x.data() + w.track->position * shape_.channels, w.count * shape_.channels, to);
    }
    const std::vector<float>& weights = work[0].sequence->weights;
    FloatMemory taps(weights.size());
    std::copy(weights.begin(), weights.end(), taps.data());
    const Weight taps_weight{.rows = 1, .cols = static_cast<int>(weights.size()), .buffer = &taps};
    conv({.x = {&x, 0, tokens, shape_.channels, shape_.channels},
          .taps = &taps_weight,
          .tap_count = shape_.taps,
          .silu = shape_.silu,
          .out = {&out, 0, tokens, shape_.channels, shape_.channels},
          .batch = &batch,
          .state = &state_,
          .stream = 1,
          .anchored = shape_.anchored,
          .anchor_at = 128},
         {kernels_.floats, pool_});
    for (std::size_t i = 0; i < work.size(); ++i) {
      expect_right(work[i], batch.segments[i], out);
      work[i].track->position += work[i].count;
    }
  }

 private:
  static constexpr std::size_t kCount = 40;

  int take() {
    const int number = free_.back();
    free_.pop_back();
    return number;
  }

  Segment segment(const Work& w, int begin) {
    Track& track = *w.track;
    const int past = track.position, end = past + w.count;
    for (int chunk = static_cast<int>(track.blocks.size()); chunk * 16 < end; ++chunk) {
      const bool whole = chunk * 16 >= past && chunk * 16 + 16 <= end;
      track.blocks.push_back(whole && w.scratch_chunks ? -1 : take());
    }
    Segment s{.begin = begin,
              .count = w.count,
              .past = past,
              .blocks = {track.blocks},
              .anchor_in = shape_.anchored ? track.anchor : -1,
              .anchors_out = {}};
    if (!shape_.anchored) return s;
    for (int position = past / 16 * 16 + 16; position <= end; position += 16) {
      const bool here = w.in_place && s.anchors_out.empty() && track.anchor >= 0;
      s.anchors_out.push_back({position, here ? track.anchor : take()});
      track.anchor = s.anchors_out.back().slot;
    }
    return s;
  }

  void expect_right(const Work& w, const Segment& s, FloatMemory& out) {
    for (int t = s.past; t < s.past + s.count; ++t) {
      SCOPED_TRACE(t);
      const float* const y = out.data() + (s.begin + t - s.past) * shape_.channels;
      const int block = s.blocks[0][static_cast<std::size_t>(t / 16)];
      const float* const row = rows_.data() + (block * 16 + t % 16) * shape_.channels;
      for (int c = 0; c < shape_.channels; ++c) {
        ASSERT_PRED2(same_bits, y[c], w.sequence->wanted(t, c)) << "channel " << c;
        if (block >= 0) {
          ASSERT_PRED2(same_bits, row[c], w.sequence->input(t, c)) << "channel " << c;
        }
      }
    }
    for (const AnchorOut& left : s.anchors_out) {
      const float* const tail = anchors_.data() + static_cast<std::size_t>(left.slot) * anchor_floats_ + 32;
      for (int i = 0; i < shape_.taps - 1; ++i) {
        for (int c = 0; c < shape_.channels; ++c) {
          const float wanted = w.sequence->input(left.position - shape_.taps + 1 + i, c);
          ASSERT_PRED2(same_bits, tail[i * shape_.channels + c], wanted) << "in the anchor at " << left.position;
        }
      }
      for (int i = -32; i < 0; ++i) ASSERT_TRUE(std::isnan(tail[i]));  // What lies before is not ours.
    }
  }

  Shape shape_;
  const Kernels& kernels_;
  ThreadPool pool_;
  std::size_t block_floats_, anchor_floats_;
  FloatMemory rows_, anchors_;
  std::vector<int> free_;
  LayerState state_;
};

const Shape kShapes[] = {
    {},
    {.channels = 48, .taps = 4, .silu = false},
    {.channels = 37, .taps = 3},
    {.channels = 16, .taps = 1},
    {.channels = 21, .taps = 16},
    {.channels = 48, .taps = 3, .silu = false, .anchored = false},
    {.channels = 5, .taps = 4, .anchored = false},
};

TEST(Conv, GivesTheBitsOfItsRuleForAnySplitOfASequence) {
  const std::vector<std::vector<int>> splits = {{1}, {70}, {16}, {3}, {7, 1, 9}, {15, 1, 2}, {33, 4, 11, 5}, {14, 20}};
  for (const Shape& shape : kShapes) {
    SCOPED_TRACE(testing::Message() << shape.channels << " channels, " << shape.taps << " taps");
    const Sequence sequence(shape, 70, 1);
    for_each_isa([&](const Kernels& kernels) {
      for (std::size_t i = 0; i < splits.size(); ++i) {
        for (unsigned kind = 0; kind < 4; ++kind) {
          SCOPED_TRACE(testing::Message() << "split " << i << ", " << kind);
          Layer layer(shape, kernels, i % 2 == 0 ? 1 : 3);
          Track track;
          for (std::size_t part = 0; track.position < 70; ++part) {
            const bool scratch = (kind & 2) != 0 && shape.anchored;  // Without anchors the next step reads the rows.
            layer.step({{.track = &track,
                         .sequence = &sequence,
                         .count = std::min(splits[i][part % splits[i].size()], 70 - track.position),
                         .in_place = (kind & 1) != 0,
                         .scratch_chunks = scratch}});
            if (testing::Test::HasFatalFailure()) return;
          }
        }
      }
    });
  }
}

TEST(Conv, TokensThatAreTakenBackLeaveNoTrace) {
  for (const bool anchored : {true, false}) {
    const Shape shape{.channels = 20, .anchored = anchored};
    const Sequence right(shape, 70, 1), wrong(shape, 70, 2);
    for_each_isa([&](const Kernels& kernels) {
      for (int before = 16; before < 33; ++before) {
        for (int count = 1; count <= 19; ++count) {
          Layer layer(shape, kernels, 1);
          Track track;
          layer.step({{.track = &track, .sequence = &right, .count = before}});
          const int anchor = track.anchor;
          // The rows and anchors of the wrong sequence before `before` differ, so its outputs are not looked at here.
          Sequence mixed = wrong;
          std::copy_n(right.x.begin(), before * shape.channels, mixed.x.begin());
          layer.step({{.track = &track, .sequence = &mixed, .count = count}});
          track.position = before;
          track.anchor = anchor;
          layer.step({{.track = &track, .sequence = &right, .count = 1}});
          layer.step({{.track = &track, .sequence = &right, .count = 24}});
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    });
  }
}

TEST(Conv, AnAnchorAloneGoesOnAsIfNothingHadStopped) {
  const Shape shape{};
  const Sequence sequence(shape, 60, 1);
  for_each_isa([&](const Kernels& kernels) {
    Layer layer(shape, kernels, 2);
    Track track;
    layer.step({{.track = &track, .sequence = &sequence, .count = 50}});
    Track other{.position = 48, .anchor = track.anchor, .blocks = {-1, -1, -1}};
    layer.step({{.track = &other, .sequence = &sequence, .count = 1}});
    layer.step({{.track = &other, .sequence = &sequence, .count = 11}});
  });
}

TEST(Conv, GivesTheSameBitsInCompany) {
  const Shape shape{.channels = 130};
  const Sequence a(shape, 200, 1), b(shape, 40, 2);
  for_each_isa([&](const Kernels& kernels) {
    for (int threads = 1; threads <= 4; ++threads) {
      Layer layer(shape, kernels, threads);
      Track at_a, at_b;
      layer.step({{.track = &at_a, .sequence = &a, .count = 180, .scratch_chunks = true}});
      layer.step({{.track = &at_b, .sequence = &b, .count = 17}, {.track = &at_a, .sequence = &a, .count = 1}});
      layer.step({{.track = &at_a, .sequence = &a, .count = 19}, {.track = &at_b, .sequence = &b, .count = 23}});
    }
  });
}

}  // namespace
}  // namespace plait
