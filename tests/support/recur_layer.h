// RecurLayer: one recurrent layer's memory and steps over it, for tests. All of it is NaN until it is written.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "backend/cpu/recur.h"
#include "base/thread_pool.h"
#include "kernels/kernels.h"
#include "support/float_reference.h"
#include "support/numbers.h"
#include "support/recur_reference.h"

namespace plait {

class FloatMemory final : public Buffer {
 public:
  explicit FloatMemory(std::size_t floats, float fill = 0) : lines_((floats + 15) / 16), floats_(floats) {
    for (Line& line : lines_) std::fill_n(line.floats, 16, fill);
  }
  std::size_t bytes() const override { return floats_ * sizeof(float); }
  std::byte* host() override { return reinterpret_cast<std::byte*>(lines_.data()); }
  float* data() { return lines_.empty() ? nullptr : lines_[0].floats; }

 private:
  struct alignas(64) Line {
    float floats[16];
  };
  std::vector<Line> lines_;
  std::size_t floats_;
};

struct RecurShape {
  int key_heads = 1, value_heads = 1, key_dim = 16, value_dim = 16;
  bool tiled = false;

  int key_width() const { return key_heads * key_dim; }
  int value_width() const { return value_heads * value_dim; }
  int key_head(int value_head) const { return tiled ? value_head % key_heads : value_head / (value_heads / key_heads); }
  RecurArgs args() const {
    RecurArgs args;
    args.key_heads = key_heads;
    args.value_heads = value_heads;
    args.key_dim = key_dim;
    args.value_dim = value_dim;
    args.tiled = tiled;
    return args;
  }
};

// All tokens of a sequence, [tokens, width].
struct RecurSequence {
  RecurSequence(const RecurShape& s, int tokens_, unsigned seed) : shape(s), tokens(tokens_) {
    const auto count = [&](int width) { return static_cast<std::size_t>(tokens) * static_cast<std::size_t>(width); };
    q = normalised(random_floats(count(s.key_width()), seed), s.key_dim);
    k = normalised(random_floats(count(s.key_width()), seed + 1), s.key_dim);
    v = random_floats(count(s.value_width()), seed + 2);
    decay = random_floats(count(s.value_heads), seed + 3);
    beta = random_floats(count(s.value_heads), seed + 4);
    for (float& x : decay) x = rule::exp(-rule::softplus(x - 2));
    for (float& x : beta) x = rule::sigmoid(x);
  }
  static std::vector<float> normalised(std::vector<float> rows, int width) {
    const auto n = static_cast<std::size_t>(width);
    for (std::size_t i = 0; i < rows.size(); i += n) {
      const std::vector<float> unit = rule::l2_norm(std::span(rows).subspan(i, n));
      std::copy(unit.begin(), unit.end(), rows.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return rows;
  }
  RecurHead head(int value_head) const {
    RecurHead h{tokens, shape.key_dim, shape.value_dim, {}, {}, {}, {}, {}};
    h.q = part(q, shape.key_width(), shape.key_head(value_head), shape.key_dim);
    h.k = part(k, shape.key_width(), shape.key_head(value_head), shape.key_dim);
    h.v = part(v, shape.value_width(), value_head, shape.value_dim);
    h.decay = part(decay, shape.value_heads, value_head, 1);
    h.beta = part(beta, shape.value_heads, value_head, 1);
    return h;
  }
  std::vector<float> part(const std::vector<float>& rows, int width, int head, int dim) const {
    std::vector<float> out;
    for (int t = 0; t < tokens; ++t) {
      const float* const from = rows.data() + static_cast<std::ptrdiff_t>(t) * width + head * dim;
      out.insert(out.end(), from, from + dim);
    }
    return out;
  }

  RecurShape shape;
  int tokens;
  std::vector<float> q, k, v, decay, beta;
};

// Where a sequence is.
struct RecurTrack {
  int position = 0;
  int anchor = -1;
  std::vector<int> blocks;     // By chunk; -1: none.
  std::map<int, int> anchors;  // Of positions: all that were left.
  std::vector<float> out;      // [tokens, value heads * value_dim]
};

struct RecurWork {
  RecurTrack* track;
  const RecurSequence* sequence;
  int count;
  bool all_anchors = false;     // Of every chunk, or only the last one.
  bool in_place = false;        // The first anchor takes the place of the one before.
  bool scratch_chunks = false;  // Chunks that begin and end in this step get no block.
};

class RecurLayer {
 public:
  RecurLayer(const RecurShape& shape, const Kernels& kernels, int threads, int blocks = 64, int slots = 64)
      : shape_(shape),
        kernels_(kernels),
        pool_(threads),
        scratch_(threads),
        block_bytes_(16 * static_cast<std::size_t>(recur_row_bytes(shape.args()))),
        anchor_bytes_(recur_state_bytes(shape.args()) + 128),  // Something else lies behind the state.
        rows_(static_cast<std::size_t>(blocks) * block_bytes_ / 4 + 16, nan()),
        anchors_(static_cast<std::size_t>(slots) * anchor_bytes_ / 4 + 32, nan()) {
    state_.rows[0] = {.buffer = &rows_, .offset = 64, .stride = block_bytes_, .block_bytes = block_bytes_, .group = 0};
    state_.anchors = &anchors_;
    state_.anchor_offset = 128;
    state_.anchor_stride = state_.anchor_bytes = anchor_bytes_;
    for (int i = 0; i < blocks; ++i) free_blocks_.push_back(i);
    for (int i = 0; i < slots; ++i) free_slots_.push_back(i);
    std::shuffle(free_blocks_.begin(), free_blocks_.end(), std::mt19937(1));
    std::shuffle(free_slots_.begin(), free_slots_.end(), std::mt19937(2));
    for (int i = 0; i < threads; ++i) std::fill_n(scratch_.worker(i), kRecurScratchFloats, nan());
  }

  void step(const std::vector<RecurWork>& work) {
    Batch batch;
    int tokens = 0;
    for (const RecurWork& w : work) {
      batch.segments.push_back(segment(w, tokens));
      tokens += w.count;
    }
    RecurArgs args = shape_.args();
    FloatMemory q = gather(work, &RecurSequence::q, shape_.key_width()),
                k = gather(work, &RecurSequence::k, shape_.key_width()),
                v = gather(work, &RecurSequence::v, shape_.value_width()),
                decay = gather(work, &RecurSequence::decay, shape_.value_heads),
                beta = gather(work, &RecurSequence::beta, shape_.value_heads);
    FloatMemory out(static_cast<std::size_t>(tokens * (shape_.value_width() + kGap)), nan());
    const auto tensor = [&](FloatMemory& memory, int cols) { return Tensor{&memory, 0, tokens, cols, cols + kGap}; };
    args.q = tensor(q, shape_.key_width());
    args.k = tensor(k, shape_.key_width());
    args.v = tensor(v, shape_.value_width());
    args.decay = tensor(decay, shape_.value_heads);
    args.beta = tensor(beta, shape_.value_heads);
    args.out = tensor(out, shape_.value_width());
    args.batch = &batch;
    args.state = &state_;
    recur(args, {kernels_.floats, pool_}, scratch_);
    for (std::size_t i = 0; i < work.size(); ++i) finish(work[i], batch.segments[i], args.out.host());
  }

  float* block(int number) { return rows_.data() + 16 + static_cast<std::size_t>(number) * block_bytes_ / 4; }
  float* anchor(int slot) { return anchors_.data() + 32 + static_cast<std::size_t>(slot) * anchor_bytes_ / 4; }
  std::size_t block_bytes() const { return block_bytes_; }
  int take_block() { return take(free_blocks_); }
  int take_slot() { return take(free_slots_); }

 private:
  static constexpr int kGap = 5;  // Floats between rows of activations.
  static float nan() { return std::numeric_limits<float>::quiet_NaN(); }
  static int take(std::vector<int>& from) {
    check(!from.empty(), "the test's layer is large enough");
    const int number = from.back();
    from.pop_back();
    return number;
  }

  Segment segment(const RecurWork& w, int begin) {
    RecurTrack& track = *w.track;
    const int past = track.position, end = past + w.count;
    for (int chunk = static_cast<int>(track.blocks.size()); chunk * 16 < end; ++chunk) {
      const bool whole = chunk * 16 >= past && chunk * 16 + 16 <= end;
      track.blocks.push_back(whole && w.scratch_chunks ? -1 : take_block());
    }
    Segment s{.begin = begin,
              .count = w.count,
              .past = past,
              .blocks = {track.blocks},
              .anchor_in = track.anchor,
              .anchors_out = {}};
    const int last = end / 16 * 16;
    for (int position = past / 16 * 16 + 16; position <= last; position += 16) {
      if (!w.all_anchors && position != last) continue;
      const bool here = w.in_place && s.anchors_out.empty() && track.anchor >= 0;
      s.anchors_out.push_back({position, here ? track.anchor : take_slot()});
    }
    return s;
  }

  void finish(const RecurWork& w, const Segment& s, const Mat<float>& out) {
    const auto width = static_cast<std::size_t>(shape_.value_width());
    RecurTrack& track = *w.track;
    track.position = s.past + s.count;
    track.out.resize(static_cast<std::size_t>(track.position) * width);
    for (int t = 0; t < s.count; ++t) {
      std::copy_n(out.row(s.begin + t), width, track.out.begin() + static_cast<std::ptrdiff_t>(width) * (s.past + t));
      for (int i = 0; i < kGap; ++i) check(std::isnan(out.row(s.begin + t)[out.cols + i]), "gaps stay as they are");
    }
    for (const AnchorOut& left : s.anchors_out) {
      std::erase_if(track.anchors, [&](const auto& old) { return old.second == left.slot; });
      track.anchors[left.position] = left.slot;
      track.anchor = left.slot;
    }
  }

  FloatMemory gather(const std::vector<RecurWork>& work, std::vector<float> RecurSequence::*numbers, int width) {
    std::size_t tokens = 0;
    for (const RecurWork& w : work) tokens += static_cast<std::size_t>(w.count);
    FloatMemory memory(tokens * static_cast<std::size_t>(width + kGap), nan());
    float* to = memory.data();
    for (const RecurWork& w : work) {
      const float* from = (w.sequence->*numbers).data() + static_cast<std::ptrdiff_t>(w.track->position) * width;
      for (int t = 0; t < w.count; ++t, from += width, to += width + kGap) std::copy_n(from, width, to);
    }
    return memory;
  }

  RecurShape shape_;
  const Kernels& kernels_;
  ThreadPool pool_;
  RecurScratch scratch_;
  std::size_t block_bytes_, anchor_bytes_;
  FloatMemory rows_, anchors_;
  std::vector<int> free_blocks_, free_slots_;
  LayerState state_;
};

}  // namespace plait
