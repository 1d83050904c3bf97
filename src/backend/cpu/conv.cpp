// Causal convolution: each token from its own inputs and those before it, wherever they lie; then what is kept.
#include <algorithm>
#include <cstring>

#include "backend/cpu/recur.h"
#include "backend/cpu/split.h"

namespace plait {
namespace {

constexpr int kMaxTaps = kChunkTokens;

// The raw inputs of one segment's sequence.
class Inputs {
 public:
  Inputs(const ConvArgs& args, const Segment& segment) : args_(args), segment_(segment) {}

  // Null: zeros, from before the sequence's start.
  const float* at(int position) const {
    if (position < 0) return nullptr;
    if (position >= segment_.past) return args_.x.host().row(segment_.begin + position - segment_.past);
    const int base = segment_.past / kChunkTokens * kChunkTokens;
    if (!args_.anchored || position >= base) return row(position);
    check(segment_.anchor_in >= 0, "a sequence beyond its first chunk has an anchor");
    return tail(segment_.anchor_in) + static_cast<std::ptrdiff_t>(position - (base - kept())) * args_.x.cols;
  }
  // Null: it is not kept.
  float* row(int position) const {
    const RowStream& stream = args_.state->rows[args_.stream];
    const int block =
        segment_.blocks[static_cast<std::size_t>(stream.group)][static_cast<std::size_t>(position / kBlockTokens)];
    if (block < 0) return nullptr;
    std::byte* base = stream.buffer->host() + stream.offset + static_cast<std::size_t>(block) * stream.stride;
    return reinterpret_cast<float*>(base) + static_cast<std::ptrdiff_t>(position % kBlockTokens) * args_.x.cols;
  }
  // [taps - 1][channels] in an anchor.
  float* tail(int slot) const {
    const LayerState& state = *args_.state;
    std::byte* base =
        state.anchors->host() + state.anchor_offset + static_cast<std::size_t>(slot) * state.anchor_stride;
    return reinterpret_cast<float*>(base + args_.anchor_at);
  }
  int kept() const { return args_.tap_count - 1; }

 private:
  const ConvArgs& args_;
  const Segment& segment_;
};

const Segment& segment_of(const Batch& batch, int token) {
  const auto after = std::upper_bound(batch.segments.begin(), batch.segments.end(), token,
                                      [](int t, const Segment& segment) { return t < segment.begin; });
  return *(after - 1);
}

void keep(const ConvArgs& args, const Segment& segment) {
  const Inputs inputs(args, segment);
  const std::size_t bytes = static_cast<std::size_t>(args.x.cols) * sizeof(float);
  for (int i = 0; i < segment.count; ++i) {
    if (float* to = inputs.row(segment.past + i)) std::memcpy(to, inputs.at(segment.past + i), bytes);
  }
  if (!args.anchored) return;
  for (const AnchorOut& out : segment.anchors_out) {
    for (int i = 0; i < inputs.kept(); ++i)
      std::memcpy(inputs.tail(out.slot) + static_cast<std::ptrdiff_t>(i) * args.x.cols,
                  inputs.at(out.position - inputs.kept() + i), bytes);
  }
}

}  // namespace

void conv(const ConvArgs& args, FloatRunner on) {
  check(args.tap_count >= 1 && args.tap_count <= kMaxTaps, "a convolution has 1 to 16 taps");
  check(args.taps->cols == args.tap_count * args.x.cols && args.out.cols == args.x.cols,
        "a convolution's shapes agree");
  const auto* taps = reinterpret_cast<const float*>(args.taps->buffer->host() + args.taps->offset);
  const Mat<float> out = args.out.host();
  for_each_row(on.pool, args.x.rows, args.x.cols, [&](int token) {
    const Segment& segment = segment_of(*args.batch, token);
    const Inputs inputs(args, segment);
    const int position = segment.past + token - segment.begin;
    const float* rows[kMaxTaps];
    for (int i = 0; i < args.tap_count; ++i) rows[i] = inputs.at(position - args.tap_count + 1 + i);
    on.kernels.conv_token[args.silu ? 1 : 0](
        {.inputs = rows, .taps = taps, .tap_count = args.tap_count, .channels = args.x.cols, .out = out.row(token)});
  });
  // After all were read: a new anchor may take the place of the old one.
  for (const Segment& segment : args.batch->segments) {
    if (segment.count > 0) keep(args, segment);
  }
}

}  // namespace plait
