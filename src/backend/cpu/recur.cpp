// The gated delta rule: chunk by chunk, one worker a key head with its value heads, over all segments.
#include "backend/cpu/recur.h"

#include <algorithm>
#include <cstring>

#include "base/float_mode.h"
#include "base/thread_pool.h"

namespace plait {
namespace {

constexpr std::size_t kAlignedFloats = 16;

std::size_t aligned(std::size_t floats) { return (floats + kAlignedFloats - 1) / kAlignedFloats * kAlignedFloats; }
std::size_t chunk_floats(int width) { return static_cast<std::size_t>(kChunkTokens) * static_cast<std::size_t>(width); }
std::size_t state_floats(const RecurArgs& a) {
  return static_cast<std::size_t>(a.key_dim) * static_cast<std::size_t>(a.value_dim);
}

// Where a chunk's rows lie, for one key head: in its block, or in a worker's scratch. By value head: u and a.
struct ChunkRows {
  float* k;
  float *u, *a;
  std::size_t u_stride, a_stride;  // Floats from one value head to the next of this key head.
};

// What a worker has besides: the coefficients of the rows at hand.
struct Coefficients {
  float p[kChunkRows * kChunkRows], r[kChunkRows * kChunkRows];
  float c[kChunkRows * kChunkRows], d[kChunkRows * kChunkRows];
  float z[kChunkRows];
};

class HeadWalk {
 public:
  HeadWalk(const RecurArgs& args, const FloatKernels& kernels, int key_head, float* scratch)
      : args_(args), kernels_(kernels), key_head_(key_head), ratio_(args.value_heads / args.key_heads) {
    w_ = scratch;
    scratch_rows_ = {
        .k = w_ + chunk_floats(args.key_dim),
        .u = w_ + 2 * chunk_floats(args.key_dim),
        .a = w_ + 2 * chunk_floats(args.key_dim) + static_cast<std::size_t>(ratio_) * chunk_floats(args.value_dim),
        .u_stride = chunk_floats(args.value_dim),
        .a_stride = kChunkTokens};
  }

  void run(const Segment& segment) {
    const int end = segment.past + segment.count;
    std::size_t next_out = 0;  // Of anchors_out.
    int anchor = segment.anchor_in;
    for (int position = segment.past; position < end;) {
      const int first = position % kChunkTokens;
      const int count = std::min(end - position, kChunkTokens - first);
      const bool full = first + count == kChunkTokens;
      int fold = -1;
      if (full) {
        check(next_out < segment.anchors_out.size(), "a full chunk has a place for its anchor");
        fold = segment.anchors_out[next_out].slot;
      }
      run_rows(segment, position, count, anchor, fold);
      position += count;
      if (!full) continue;
      anchor = fold;
      if (segment.anchors_out[next_out].position == position) ++next_out;
    }
  }

 private:
  int value_head(int i) const { return args_.tiled ? i * args_.key_heads + key_head_ : key_head_ * ratio_ + i; }

  ChunkRows rows_of(const Segment& segment, int chunk) const {
    const RowStream& stream = args_.state->rows[args_.stream];
    const int block = segment.blocks[static_cast<std::size_t>(stream.group)][static_cast<std::size_t>(chunk)];
    if (block < 0) return scratch_rows_;
    auto* base = reinterpret_cast<float*>(stream.buffer->host() + stream.offset +
                                          static_cast<std::size_t>(block) * stream.stride);
    const auto heads = static_cast<std::size_t>(args_.value_heads);
    float* u = base + static_cast<std::size_t>(args_.key_heads) * chunk_floats(args_.key_dim);
    float* a = u + heads * chunk_floats(args_.value_dim);
    const auto first = static_cast<std::size_t>(value_head(0));
    const auto between = ratio_ > 1 ? static_cast<std::size_t>(value_head(1)) - first : 0;
    return {.k = base + static_cast<std::size_t>(key_head_) * chunk_floats(args_.key_dim),
            .u = u + first * chunk_floats(args_.value_dim),
            .a = a + first * kChunkTokens,
            .u_stride = between * chunk_floats(args_.value_dim),
            .a_stride = between * kChunkTokens};
  }

  float* state_of(int slot, int head) const {
    if (slot < 0) return nullptr;
    const LayerState& state = *args_.state;
    std::byte* base =
        state.anchors->host() + state.anchor_offset + static_cast<std::size_t>(slot) * state.anchor_stride;
    return reinterpret_cast<float*>(base) + static_cast<std::size_t>(head) * state_floats(args_);
  }

  // Rows [position, position + count), all of one chunk.
  void run_rows(const Segment& segment, int position, int count, int anchor, int fold) {
    const ChunkRows rows = rows_of(segment, position / kChunkTokens);
    const int first = position % kChunkTokens, token = segment.begin + position - segment.past;
    const Mat<float> q = args_.q.host(), k = args_.k.host();
    for (int t = 0; t < count; ++t)
      std::memcpy(rows.k + static_cast<std::ptrdiff_t>(first + t) * args_.key_dim,
                  k.row(token + t) + key_head_ * args_.key_dim,
                  static_cast<std::size_t>(args_.key_dim) * sizeof(float));
    const float* const queries = q.row(token) + key_head_ * args_.key_dim;
    kernels_.recur_pairs({.q = queries,
                          .q_stride = q.stride,
                          .k = rows.k,
                          .key_dim = args_.key_dim,
                          .first = first,
                          .count = count,
                          .p = coefficients_.p,
                          .r = coefficients_.r});
    for (int i = 0; i < ratio_; ++i) {
      const int head = value_head(i);
      float* const a = rows.a + static_cast<std::size_t>(i) * rows.a_stride;
      const Mat<float> decay = args_.decay.host(), v = args_.v.host(), beta = args_.beta.host(), out = args_.out.host();
      for (int t = 0; t < count; ++t) a[first + t] = decay.row(token + t)[head];
      decay_coefficients(a, first, count);
      RecurRowsArgs call{.anchor = state_of(anchor, head),
                         .key_dim = args_.key_dim,
                         .value_dim = args_.value_dim,
                         .first = first,
                         .count = count,
                         .q = queries,
                         .q_stride = q.stride,
                         .k = rows.k,
                         .u = rows.u + static_cast<std::size_t>(i) * rows.u_stride,
                         .v = v.row(token) + head * args_.value_dim,
                         .v_stride = v.stride,
                         .beta = beta.row(token) + head,
                         .beta_stride = beta.stride,
                         .c = coefficients_.c,
                         .d = coefficients_.d,
                         .z = coefficients_.z,
                         .out = out.row(token) + head * args_.value_dim,
                         .out_stride = out.stride};
      if (fold >= 0) {
        call.e = fold_weights(rows.k, a);
        call.w = w_;
        call.fold = state_of(fold, head);
      }
      kernels_.recur_rows(call);
    }
  }

  // c, d and z of each new row (anchored-recurrence.md 2.1): the decays are multiplied in double, from the row back.
  void decay_coefficients(const float* a, int first, int count) {
    Coefficients& n = coefficients_;
    for (int row = 0; row < count; ++row) {
      const int t = first + row;
      const int base = row * kChunkRows;
      double decay = 1;
      n.d[base + t] = n.r[base + t];
      for (int j = t - 1; j >= 0; --j) {
        decay *= static_cast<double>(a[j + 1]);
        n.c[base + j] = n.p[base + j] * static_cast<float>(decay);
        n.d[base + j] = n.r[base + j] * static_cast<float>(decay);
      }
      n.z[row] = static_cast<float>(decay * static_cast<double>(a[0]));
    }
  }

  // Fills w; returns the decay of the whole chunk (2.3).
  float fold_weights(const float* k, const float* a) {
    double decay = 1;
    for (int j = kChunkTokens - 1; j >= 0; --j) {
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(j) * args_.key_dim;
      kernels_.scale(k + at, static_cast<float>(decay), w_ + at, args_.key_dim);
      decay *= static_cast<double>(a[j]);
    }
    return static_cast<float>(decay);
  }

  const RecurArgs& args_;
  const FloatKernels& kernels_;
  int key_head_, ratio_;
  float* w_;
  ChunkRows scratch_rows_;
  Coefficients coefficients_;
};

void check_shapes(const RecurArgs& a) {
  check(a.key_dim % 16 == 0 && a.value_dim % 16 == 0 && a.value_heads % a.key_heads == 0,
        "heads are whole vectors, and value heads are shared out evenly");
  check(a.q.cols == a.key_heads * a.key_dim && a.k.cols == a.q.cols && a.v.cols == a.value_heads * a.value_dim &&
            a.out.cols == a.v.cols && a.decay.cols == a.value_heads && a.beta.cols == a.value_heads,
        "a recurrence's shapes agree");
  check(recur_scratch_floats(a) <= kRecurScratchFloats, "a worker's scratch memory suffices");
}

}  // namespace

RecurScratch::RecurScratch(int threads) : memory_(new float[static_cast<std::size_t>(threads) * kRecurScratchFloats]) {}

int recur_row_bytes(const RecurArgs& a) {
  return static_cast<int>(sizeof(float)) * (a.key_heads * a.key_dim + a.value_heads * (a.value_dim + 1));
}

std::size_t recur_state_bytes(const RecurArgs& a) {
  return sizeof(float) * static_cast<std::size_t>(a.value_heads) * state_floats(a);
}

std::size_t recur_scratch_floats(const RecurArgs& a) {
  const auto ratio = static_cast<std::size_t>(a.value_heads / a.key_heads);
  return aligned(2 * chunk_floats(a.key_dim) + ratio * (chunk_floats(a.value_dim) + kChunkTokens));
}

void recur(const RecurArgs& args, FloatRunner on, RecurScratch& scratch) {
  check_shapes(args);
  const auto& segments = args.batch->segments;
  // Heads outside, segments inside: so that long and short segments are shared out alike.
  const auto body = [&](int begin, int end, int worker) {
    for (int head = begin; head < end; ++head) {
      HeadWalk walk(args, on.kernels, head, scratch.worker(worker));
      for (const Segment& segment : segments) {
        if (segment.count > 0) walk.run(segment);
      }
    }
  };
  on.pool.parallel_for(args.key_heads, std::ref(body));
}

}  // namespace plait
