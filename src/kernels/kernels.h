// Kernels: the arithmetic of one instruction set, as a table of plain functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernels/float_kernels.h"

namespace plait {

// ---- Activations as codes (linear-kernels.md 3) ----------------------------------------------------------------

// 32 values of one token: value i is codes[i] * scale. One line of the cache.
// Fine activations (16 bits) have two planes of codes, in two of these side by side: value i is
// (255 * first.codes[i] + second.codes[i]) * second.scale. All but the codes stands in the second and counts for both.
struct alignas(64) ActivationGroup {
  std::int8_t codes[32];
  float scale;            // NaN where a value is not finite; then all codes are zero.
  std::int32_t start[2];  // -zero * the sum of the codes, for each part of the group: where a product begins.
  float sum[2];           // The sum of the codes of each part.
  std::int32_t unused[3];
};
static_assert(sizeof(ActivationGroup) == 64);

constexpr int activation_groups(int cols) { return (cols + 31) / 32; }
constexpr int kFinePlanes = 2;
// Groups from one token to the next: one more than it has, so that tokens do not meet in the same lines of the cache.
constexpr int activation_stride(int cols, int planes = 1) { return planes * activation_groups(cols) + 1; }

struct QuantizeArgs {
  const float* x = nullptr;  // [tokens, cols]
  std::ptrdiff_t x_stride = 0;
  int cols = 0;
  int token_begin = 0, token_end = 0;
  int zero = 0;                    // Of the codes of the weights that will be multiplied.
  int parts = 1;                   // 1: start and sum are of the whole group; 2: of each 16 values.
  ActivationGroup* out = nullptr;  // Token t begins at out + t * activation_stride(cols, planes).
};

// ---- Weight times activation (linear-kernels.md 1) -------------------------------------------------------------

// Weights lie as pairs of tiles: 32 rows side by side, in one stream (kernels/linear.h).
constexpr int kTileRows = 16;
constexpr int kPairRows = 32;
constexpr int weight_pairs(int rows) { return (rows + kPairRows - 1) / kPairRows; }

// Many tokens: rows of this many groups are expanded at once, for this many tokens (kernels/panel.h).
constexpr int kPanelGroups = 8;
constexpr int kPanelTokens = 512;
constexpr int kPanelRows = 64;  // At most.
constexpr std::size_t kPanelBytes = kPanelGroups * kPanelRows * (32 + 2 * sizeof(float));
constexpr std::size_t kPanelScratchBytes = kPanelBytes + sizeof(float) * kPanelTokens * kPanelRows;
constexpr int kNoPanel = 1 << 30;

struct LinearArgs {
  const std::byte* weights = nullptr;  // Pair `pair_begin`; the others follow.
  int rows = 0, cols = 0;              // Of the whole matrix.
  int pair_begin = 0, pair_end = 0;    // Rows [32 * pair_begin, min(rows, 32 * pair_end)) are computed.
  int tokens = 0;
  const ActivationGroup* groups = nullptr;  // For quantized weights.
  const float* x = nullptr;                 // For float weights.
  std::ptrdiff_t x_stride = 0;
  const int* token_rows = nullptr;  // Token t reads row token_rows[t] of these; null: row t.
  std::byte* panel = nullptr;       // kPanelScratchBytes of the caller's own, 64-byte aligned.
  float tensor_scale = 1.0f;
  const float* bias = nullptr;  // One a row, or null.
  float* out = nullptr;         // out[token * out_stride + row]
  std::ptrdiff_t out_stride = 0;
};

// The product with one format's packed weights.
struct LinearKernel {
  int gguf_type = -1;  // -1 in expanded kernels.
  bool is_float = false;
  int zero = 0;                    // For QuantizeArgs.
  int parts = 1;                   // The same.
  int panel_from = kNoPanel;       // From so many tokens on run() uses args.panel.
  int fine_panel_from = kNoPanel;  // The same of run_fine().
  void (*run)(const LinearArgs& args) = nullptr;
  void (*run_fine)(const LinearArgs& args) = nullptr;  // With fine activations; null for float weights.
  // One row of the packed matrix to f32, bit-equal to Format::decode of the file's row.
  void (*decode_row)(const std::byte* weights, int row, int cols, float* out) = nullptr;
  // A packed pair to what the kernel of f32 weights reads, [cols][32 rows]; the same values. Null for float weights.
  void (*decode_pair)(const std::byte* pair, int cols, float* out) = nullptr;
};

constexpr int kMaxLinearKernels = 32;  // More than there are.

// ---- The table --------------------------------------------------------------------------------------------------

struct Kernels {
  std::string_view name;

  FloatKernels floats{};
  void (*quantize)(const QuantizeArgs& args) = nullptr;
  void (*quantize_fine)(const QuantizeArgs& args) = nullptr;
  std::array<LinearKernel, kMaxLinearKernels> linear{};  // Formats that have tiles; the rest is empty.
  // Weights expanded to 8-bit codes and f32 scales: [one or two scales a group][no mins, mins].
  std::array<std::array<LinearKernel, 2>, 2> expanded{};

  // Null if the format has no packed layout.
  const LinearKernel* find_linear(int gguf_type) const {
    for (const LinearKernel& kernel : linear) {
      if (kernel.run != nullptr && kernel.gguf_type == gguf_type) return &kernel;
    }
    return nullptr;
  }
};

}  // namespace plait
