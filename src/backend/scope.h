// Scope: how mixers and feed-forwards ask for their weights by name, without knowing where they come from.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/ops.h"

namespace plait {

enum class Presence { kRequired, kOptional };

enum class TensorKind {
  kMatrix,
  kFloatMatrix,  // A small matrix whose numbers should be floats in the file.
  kNorm,         // Vectors of f32 from here on.
  kBias,
  kDecay,  // The negative factor of a recurrence's decay.
  kStep,   // What is added to its step size.
  kTaps,   // A causal convolution, [rows = channels, cols = taps] in the file; held as [taps][channels].
};

// One tensor that a model wants.
struct TensorPlan {
  std::string name;
  TensorKind kind = TensorKind::kMatrix;
  int rows = 1;  // 1 for vectors.
  int cols = 0;
  // The file's rows come in groups of parts of so many rows each; they are held part by part, groups in order. Empty:
  // as they come.
  std::vector<int> parts = {};
  // A stack: so many matrices, of which a token uses a few. Zero: one matrix.
  int experts = 0, experts_used = 0;
  // The rows are those from `first_row` on of the `file_rows` that each matrix of the stack has. Zero: all.
  int first_row = 0, file_rows = 0;

  bool is_matrix() const { return kind == TensorKind::kMatrix || kind == TensorKind::kFloatMatrix; }
};

// The shape of a stack of experts' matrices.
struct StackShape {
  int rows = 0, cols = 0;
  int experts = 0, used = 0;
  int first_row = 0, file_rows = 0;  // As in TensorPlan.
};

// Where weights come from: a file, or a plan that only records what is wanted. Remembers its first error; what it
// returns then may be null, and is not used.
class WeightSource {
 public:
  virtual ~WeightSource() = default;
  virtual const Weight* request(const TensorPlan& tensor, Presence presence) = 0;
  // The single number of a [1] tensor, or `fallback` if it is not there.
  virtual float scalar(const std::string& name, float fallback) = 0;
  virtual bool has(const std::string& name) const = 0;
};

// A source and the prefix of its names: "blk.3.", or nothing for the model's own tensors.
class Scope {
 public:
  Scope(WeightSource& source, std::string prefix) : source_(source), prefix_(std::move(prefix)) {}

  bool has(std::string_view name) const { return source_.has(full(name, ".weight")); }
  const Weight* matrix(std::string_view name, int rows, int cols, Presence presence = Presence::kRequired) {
    return source_.request({full(name, ".weight"), TensorKind::kMatrix, rows, cols}, presence);
  }
  const Weight* vector(std::string_view name, int count, Presence presence = Presence::kRequired) {
    return source_.request({full(name, ".weight"), TensorKind::kNorm, 1, count}, presence);
  }
  // A vector by its whole name: "ssm_a", "ssm_dt.bias".
  const Weight* numbers(std::string_view name, TensorKind kind, int count) {
    return source_.request({full(name, ""), kind, 1, count}, Presence::kRequired);
  }
  const Weight* taps(std::string_view name, int channels, int taps) {
    return source_.request({full(name, ".weight"), TensorKind::kTaps, channels, taps}, Presence::kRequired);
  }
  Projection float_projection(std::string_view name, int rows, int cols, std::vector<int> parts = {}) {
    Projection projection;
    projection.weight = source_.request({full(name, ".weight"), TensorKind::kFloatMatrix, rows, cols, std::move(parts)},
                                        Presence::kRequired);
    return projection;
  }
  // A matrix with its bias and its tensor scale, where they are there. `parts`: as in TensorPlan.
  Projection projection(std::string_view name, int rows, int cols, Presence bias = Presence::kOptional,
                        std::vector<int> parts = {}) {
    Projection projection;
    projection.weight = source_.request({full(name, ".weight"), TensorKind::kMatrix, rows, cols, std::move(parts)},
                                        Presence::kRequired);
    projection.bias = source_.request({full(name, ".bias"), TensorKind::kBias, 1, rows}, bias);
    projection.tensor_scale = source_.scalar(full(name, ".scale"), 1.0f);
    source_.scalar(full(name, ".input_scale"), 1.0f);  // Known, and without meaning for our activations.
    return projection;
  }
  // The matrices of all experts, with a factor for each where they are there.
  ExpertStack stack(std::string_view name, const StackShape& shape) {
    TensorPlan plan{full(name, ".weight"), TensorKind::kMatrix, shape.rows, shape.cols};
    plan.experts = shape.experts;
    plan.experts_used = shape.used;
    plan.first_row = shape.first_row;
    plan.file_rows = shape.file_rows;
    ExpertStack stack;
    stack.weight = source_.request(plan, Presence::kRequired);
    stack.scale = source_.request({full(name, ".scale"), TensorKind::kNorm, 1, shape.experts}, Presence::kOptional);
    return stack;
  }

 private:
  std::string full(std::string_view name, std::string_view suffix) const {
    return prefix_ + std::string(name) + std::string(suffix);
  }

  WeightSource& source_;
  std::string prefix_;
};

}  // namespace plait
