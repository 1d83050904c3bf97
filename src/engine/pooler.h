// Pooler: the hidden rows of a prompt become one vector.
#pragma once

#include <span>
#include <vector>

#include "plait/engine.h"

namespace plait {

// All in double, token by token and index by index: the bits depend on the rows alone, not on the steps they came in.
class Pooler {
 public:
  explicit Pooler(Pooling kind) : kind_(kind) {}

  // Whether rows of tokens before `end` are still wanted, beside that of the last token of all.
  bool wants_until(int end) const { return kind_ == Pooling::kMean && end > rows_; }
  // The row of the token at `position`. Rows come in order; those that come again, after a pause, change nothing.
  void add(int position, std::span<const float> row);
  // The mean of all rows, or the last one, divided by its Euclidean norm; a vector of zeros stays as it is. Fails if a
  // row had a value that is NaN or infinite.
  Result<std::vector<float>> vector() const;

 private:
  Pooling kind_;
  int rows_ = 0;
  std::vector<double> sum_;
};

}  // namespace plait
