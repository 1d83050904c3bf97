// The argument structs of a backend's operations.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "backend/batch.h"
#include "backend/tensor.h"

namespace plait {

enum class Activation { kSilu, kGeluTanh, kRelu2 };

enum class Gating { kSoftmax, kSigmoid };  // Of a router's logits.

// out = x * weight^T, then * tensor_scale if it is not 1, then + bias if there is one.
struct Projection {
  const Weight* weight = nullptr;
  const Weight* bias = nullptr;  // A vector of f32, or null.
  float tensor_scale = 1.0f;
  Tensor out;  // [x.rows, weight->rows]
};

// out = act(x * gate^T) * (x * up^T), [x.rows, gate->rows].
struct GluArgs {
  Tensor x;
  Projection gate, up;  // Their `out` is not used.
  Activation activation = Activation::kSilu;
  Tensor out;
};

// RMS norm (linear-kernels.md 7.4) of every `width` consecutive values of a row: the whole row, or each head.
// `weight` has `width` values and is shared by all heads. `out` may be `x`.
struct NormArgs {
  Tensor x;
  const Weight* weight = nullptr;
  float eps = 0;
  int width = 0;
  Tensor out;
};

enum class RopePairs { kNeighbours /* (2i, 2i+1) */, kHalves /* (i, i + rotated/2) */ };

// Rotates, in place, the first `rotated` values of each head of x [tokens, heads * head_dim].
// `table` is [tokens, rotated]: the cosines of all pairs, then their sines.
struct RopeArgs {
  Tensor x;
  Tensor table;
  int head_dim = 0;
  int rotated = 0;
  RopePairs pairs = RopePairs::kHalves;
};

enum class RowType { kF32, kF16, kBF16 };  // How keys or values of a token are kept.
constexpr int row_type_bytes(RowType type) { return type == RowType::kF32 ? 4 : 2; }

// Softmax attention (linear-kernels.md 7.3): first writes the tokens' keys and values to the state's blocks, then
// computes. Keys of a block lie as [kv_heads][key_dim][16 rows], values as [kv_heads][16 rows][value_dim], in their
// row types.
struct AttendArgs {
  Tensor q;    // [tokens, heads * key_dim], RoPE done; multiplied by `scale` inside, once.
  Tensor k;    // [tokens, kv_heads * key_dim], RoPE done.
  Tensor v;    // [tokens, kv_heads * value_dim]
  Tensor out;  // [tokens, heads * value_dim]
  int heads = 0, kv_heads = 0, key_dim = 0, value_dim = 0;
  float scale = 1.0f;
  int window = 0;                 // Zero: none.
  float soft_cap = 0;             // Zero: none.
  const Weight* sinks = nullptr;  // One f32 a head, or null.
  RowType key_type = RowType::kF16, value_type = RowType::kF16;
  const Batch* batch = nullptr;
  const LayerState* state = nullptr;  // Stream 0: keys, stream 1: values.
};

// Causal convolution of each channel over its last `taps` inputs, the oldest tap first (linear-kernels.md 7.4):
// y = +0; y = fma(w[i], x[t - taps + 1 + i], y); then silu where asked. Inputs before the sequence's start are zero.
// Writes the tokens' raw inputs to the row stream, [16 rows][channels] f32 a block. A stream that ends at anchors
// (kSinceAnchor) also leaves the last taps - 1 inputs, [taps - 1][channels], in each anchor, and begins from them.
struct ConvArgs {
  Tensor x;                      // [tokens, channels]
  const Weight* taps = nullptr;  // A vector of f32: [taps][channels], the oldest tap first.
  int tap_count = 0;
  bool silu = false;
  Tensor out;  // [tokens, channels]; not x.
  const Batch* batch = nullptr;
  const LayerState* state = nullptr;
  int stream = 0;             // Which of the state's row streams.
  bool anchored = false;      // Its window is kSinceAnchor.
  std::size_t anchor_at = 0;  // Bytes from the beginning of the layer's anchor to these inputs.
};

// L2 norm of each head of a row (linear-kernels.md 7.4), in place: x / sqrt(dot16(x, x) + 1e-6), then times `scale` if
// that is not 1.
struct L2NormArgs {
  Tensor x;
  int width = 0;
  float scale = 1.0f;
};

// out = the decay factor exp(a * softplus(alpha + dt)), one a head; `a` and `dt` are vectors of f32.
struct DecayArgs {
  Tensor alpha;  // [tokens, heads]
  const Weight* a = nullptr;
  const Weight* dt = nullptr;
  Tensor out;  // May be alpha.
};

// The gated delta rule with one decay a head (anchored-recurrence.md 2.1, 2.3), over rows and anchors.
// Row stream `stream` of a block holds, 64-byte aligned each: for every key head k [16][key_dim], for every value head
// u [16][value_dim], for every value head a [16]. The layer's anchor begins with S [value_heads][key_dim][value_dim].
struct RecurArgs {
  Tensor q;      // [tokens, key_heads * key_dim]; L2-normalised, 1 / sqrt(key_dim) included.
  Tensor k;      // [tokens, key_heads * key_dim]; L2-normalised.
  Tensor v;      // [tokens, value_heads * value_dim]
  Tensor decay;  // [tokens, value_heads], in [0, 1]
  Tensor beta;   // [tokens, value_heads]
  Tensor out;    // [tokens, value_heads * value_dim]; not v.
  int key_heads = 0, value_heads = 0, key_dim = 0, value_dim = 0;
  bool tiled = false;  // Value head j reads key head j % key_heads; otherwise j / (value_heads / key_heads).
  const Batch* batch = nullptr;
  const LayerState* state = nullptr;
  int stream = 0;
};
// Bytes of one token's row and of one layer's matrix state, as laid out above.
int recur_row_bytes(const RecurArgs& shape);
std::size_t recur_state_bytes(const RecurArgs& shape);
// Of a worker's scratch memory; a CPU has kRecurScratchFloats of it.
std::size_t recur_scratch_floats(const RecurArgs& shape);
constexpr std::size_t kRecurScratchFloats = 96 * 1024;

enum class GateFunction { kSigmoid, kSilu, kIdentity };

// x = x * f(gate), in place.
struct GateArgs {
  Tensor x, gate;
  GateFunction function = GateFunction::kSigmoid;
};

// Which experts a token takes, and with what weights (linear-kernels.md 7.4, routing).
struct Routing {
  Gating gating = Gating::kSoftmax;
  int experts = 0, used = 0;
  int groups = 1, groups_used = 1;  // Of equal size; at most kMaxExpertGroups.
  const Weight* bias = nullptr;     // A vector of f32 that counts in the choice and not in the weights; or null.
  bool normalise = true;            // By their sum plus `guard`.
  float guard = 0;
  float scale = 1;  // Of the weights, in the end; 0 and 1: none.
};
constexpr int kMaxExpertGroups = 64;

// One matrix for each expert, and what its products are multiplied by: a vector of f32, or null.
struct ExpertStack {
  const Weight* weight = nullptr;
  const Weight* scale = nullptr;
};

// out = the weighted sum over a token's experts, best first, of down(act(gate x) * up x); then plus the shared expert's
// output. Only the weights of experts that some token chose are read.
struct ExpertArgs {
  Tensor x;       // [tokens, dim]
  Tensor logits;  // [tokens, experts], of the router; overwritten.
  Routing routing;
  ExpertStack gate, up, down;
  Activation activation = Activation::kSilu;
  Tensor hidden;                                 // [tokens * used, gate rows] to work with,
  Tensor products;                               // and [tokens * used, dim].
  Tensor shared;                                 // [tokens, dim]; or nothing.
  Tensor shared_gate;                            // [tokens, 1]: `shared` counts times the sigmoid of it; or nothing.
  Tensor out;                                    // [tokens, dim]; not x.
  std::span<std::atomic<std::uint64_t>> counts;  // How often each expert was chosen is added; or empty.
};

}  // namespace plait
