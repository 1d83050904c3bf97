// Scope: how mixers and feed-forwards ask for their weights by name, without knowing where they come from.
#pragma once

#include <string>
#include <string_view>

#include "backend/ops.h"

namespace plait {

enum class Presence { kRequired, kOptional };

// Where weights come from: a file, or a plan that only records what is wanted. Remembers its first error; what it
// returns then may be null, and is not used.
class WeightSource {
 public:
  virtual ~WeightSource() = default;
  virtual const Weight* matrix(const std::string& name, int rows, int cols, Presence presence) = 0;
  virtual const Weight* vector(const std::string& name, int count, Presence presence) = 0;
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
    return source_.matrix(full(name, ".weight"), rows, cols, presence);
  }
  const Weight* vector(std::string_view name, int count, Presence presence = Presence::kRequired) {
    return source_.vector(full(name, ".weight"), count, presence);
  }
  // A matrix with its bias and its tensor scale, where they are there.
  Projection projection(std::string_view name, int rows, int cols, Presence bias = Presence::kOptional) {
    Projection projection;
    projection.weight = matrix(name, rows, cols);
    projection.bias = source_.vector(full(name, ".bias"), rows, bias);
    projection.tensor_scale = source_.scalar(full(name, ".scale"), 1.0f);
    source_.scalar(full(name, ".input_scale"), 1.0f);  // Known, and without meaning for our activations.
    return projection;
  }

 private:
  std::string full(std::string_view name, std::string_view suffix) const {
    return prefix_ + std::string(name) + std::string(suffix);
  }

  WeightSource& source_;
  std::string prefix_;
};

}  // namespace plait
