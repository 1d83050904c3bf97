// FloatKernels: the float functions of one instruction set (linear-kernels.md 7) as plain functions.
#pragma once

#include <cstddef>

namespace plait {

constexpr int kAttendBlock = 16;  // Rows of a block of keys or values.
constexpr int kAttendPart = 512;  // Rows of a part of a context.
constexpr int kAttendPartBlocks = kAttendPart / kAttendBlock;
constexpr int kAttendRescales = kAttendPartBlocks + 16;  // From one query's rescales to the next.
constexpr int kAttendAhead = 8;                          // Blocks that are fetched before they are read.
constexpr int kMaxAttendQueries = 8;                     // Queries that one call of scores() takes, at most.

// Scores of a few queries against blocks of keys.
struct ScoreArgs {
  const float* q = nullptr;  // [queries][dim], scaled.
  int queries = 0;           // At most FloatKernels::attend_queries.
  int dim = 0;
  const std::byte* const* keys = nullptr;  // Of each block: [dim][16 rows].
  int blocks = 0;
  int known = 0;            // Entries of `keys`: the blocks, then others that will be read next.
  float* scores = nullptr;  // [queries][stride]; block b begins at 16 b.
  int stride = 0;
};

// Softmax of one query over consecutive blocks of one part. Each block has a row in [first, last), which are the
// visible ones. Scores of other rows may be anything.
struct SoftmaxArgs {
  float* scores = nullptr;  // [16 * blocks]; becomes the weights, relative to the running maximum of their block.
  int blocks = 0;           // 1 to 32.
  int first = 0, last = 0;
  float soft_cap = 0;        // Zero: none.
  float* rescale = nullptr;  // One a block: what multiplies everything summed before. Written in sixteens.
  float* maximum = nullptr;  // Of the part.
  float* sum = nullptr;      // Of the weights of the part.
};

// The weighted sum of values of some queries over blocks of one part.
struct WeighArgs {
  int queries = 0;
  const float* weights = nullptr;  // [queries][stride], from softmax(), block b at 16 b.
  int stride = 0;
  const float* rescale = nullptr;  // [queries][kAttendRescales].
  const int* first = nullptr;      // Of each query: its visible rows, counted from block 0. None: last <= first.
  const int* last = nullptr;
  const std::byte* const* values = nullptr;  // Of each block: [16 rows][dim].
  int known = 0;                             // Entries of `values`: the blocks, then others that will be read next.
  int dim = 0;
  float* const* out = nullptr;  // Of each query with a visible row: [dim], written whole.
  bool add = false;             // To what is there: the sums of the part's blocks before these.
};

// Rows of one head to write to a block.
struct WriteRowsArgs {
  const float* rows = nullptr;
  int stride = 0;  // Floats from one row to the next.
  int count = 0;
  int dim = 0;
  std::byte* block = nullptr;  // Of the head.
  int first_row = 0;           // The block's row that the first one becomes.
};

// A part's share of a softmax, or several merged: the greatest score, the sum of weights and the weighted values.
struct AttendShare {
  float maximum = 0, sum = 0;
  float* values = nullptr;  // [dim]
};

// Rows of a chunk, and the coefficients between any two of them.
constexpr int kChunkRows = 16;

// Products of new rows' keys and queries with the chunk's keys.
struct RecurPairsArgs {
  const float* q = nullptr;  // Of the first new row.
  std::ptrdiff_t q_stride = 0;
  const float* k = nullptr;  // [16][key_dim], the new rows among them; all of it may be read.
  int key_dim = 0;           // A multiple of 16.
  int first = 0, count = 0;  // The new rows are [first, first + count) of the chunk.
  float* p = nullptr;        // [count][16]: dot16(k_t, k_j)
  float* r = nullptr;        // [count][16]: dot16(q_t, k_j)
};

// New rows of one value head: makes their u and their results; then the next anchor, where it is wanted.
struct RecurRowsArgs {
  const float* anchor = nullptr;   // S0 [key_dim][value_dim]; null: zeros.
  int key_dim = 0, value_dim = 0;  // Multiples of 16.
  int first = 0, count = 0;        // As above.
  const float* q = nullptr;        // As above.
  std::ptrdiff_t q_stride = 0;
  const float* k = nullptr;  // [16][key_dim]
  float* u = nullptr;        // [16][value_dim]
  const float* v = nullptr;  // Of the first new row.
  std::ptrdiff_t v_stride = 0;
  const float* beta = nullptr;  // The same.
  std::ptrdiff_t beta_stride = 0;
  const float *c = nullptr, *d = nullptr;  // [count][16]: coefficients of a new row on each row up to it.
  const float* z = nullptr;                // [count]: on the anchor.
  float* out = nullptr;                    // Of the first new row.
  std::ptrdiff_t out_stride = 0;
  float* fold = nullptr;     // S1, may be S0; null: the chunk is not full.
  const float* w = nullptr;  // [16][key_dim]: keys times their decay to the chunk's end.
  float e = 0;               // The decay of the whole chunk.
};

// One token of a causal convolution.
struct ConvTokenArgs {
  const float* const* inputs = nullptr;  // One a tap, the oldest first; null: zeros.
  const float* taps = nullptr;           // [tap_count][channels]
  int tap_count = 0, channels = 0;
  float* out = nullptr;
};

// out = the weighted sum of some rows, in their order, from +0; then of one more.
struct CombineArgs {
  const float* rows = nullptr;
  std::ptrdiff_t stride = 0;
  const int* chosen = nullptr;  // Which rows,
  const float* weights = nullptr;
  int count = 0;                // and how many.
  const float* last = nullptr;  // Or null.
  float last_weight = 1;
  float* out = nullptr;
  int width = 0;
};

using MapKernel = void (*)(const float* x, float* out, int count);

// `out` may be an input everywhere. Arrays indexed by row type are f32, f16, bf16.
struct FloatKernels {
  float (*dot16)(const float* x, const float* y, int count);
  float (*sum16)(const float* x, int count);
  MapKernel exp, log1p, silu, sigmoid, softplus, tanh, gelu_tanh, relu2;
  void (*add)(const float* x, const float* y, float* out, int count);
  void (*scale)(const float* x, float factor, float* out, int count);
  // act(gate) * up; silu, gelu (tanh form), relu squared.
  void (*glu[3])(const float* gate, const float* up, float* out, int count);
  // x * f(gate), by GateFunction: sigmoid, silu, identity.
  void (*gate[3])(const float* gate, const float* x, float* out, int count);
  void (*combine)(const CombineArgs& args);
  void (*l2_norm)(float* x, float scale, int count);
  void (*decay)(const float* alpha, const float* a, const float* dt, float* out, int count);
  void (*conv_token[2])(const ConvTokenArgs& args);  // Without and with SiLU.
  void (*recur_pairs)(const RecurPairsArgs& args);
  void (*recur_rows)(const RecurRowsArgs& args);
  void (*rms_norm)(const float* x, const float* weight, float eps, float* out, int count);
  // One head, in place; the pairs are (2i, 2i + 1), or (i, i + rotated / 2). `angles`: cosines, then sines.
  void (*rope_neighbours)(float* head, const float* angles, int rotated);
  void (*rope_halves)(float* head, const float* angles, int rotated);

  int attend_queries;  // Queries that scores() takes at once, at most.
  void (*write_keys[3])(const WriteRowsArgs& args);
  void (*write_values[3])(const WriteRowsArgs& args);
  void (*scores[3])(const ScoreArgs& args);
  void (*softmax)(const SoftmaxArgs& args);
  void (*weigh[3])(const WeighArgs& args);
  // Merges a later share into `all`; one without values is zeros.
  void (*merge)(AttendShare& all, const AttendShare& later, int dim);
};

}  // namespace plait
