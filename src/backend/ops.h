// The argument structs of a backend's operations.
#pragma once

#include "backend/batch.h"
#include "backend/tensor.h"

namespace plait {

enum class Activation { kSilu, kGeluTanh, kRelu2 };

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

}  // namespace plait
