// Pooler: sums, and the norm.
#include "engine/pooler.h"

#include <fmt/format.h>

#include <cmath>

#include "base/check.h"

namespace plait {

void Pooler::add(int position, std::span<const float> row) {
  if (kind_ == Pooling::kLast) {
    sum_.assign(row.begin(), row.end());
    rows_ = 1;
    return;
  }
  if (position < rows_) return;
  check(position == rows_, "rows are pooled in order, and none is left out");
  sum_.resize(row.size());
  for (std::size_t i = 0; i < row.size(); ++i) sum_[i] += static_cast<double>(row[i]);
  ++rows_;
}

Result<std::vector<float>> Pooler::vector() const {
  check(rows_ > 0, "a vector is made of at least one row");
  double squares = 0;
  for (std::size_t i = 0; i < sum_.size(); ++i) {
    if (!std::isfinite(sum_[i]))
      return fail(ErrorCode::kCorrupt, fmt::format("element {} of the hidden rows is {}, not a number", i, sum_[i]));
    const double mean = sum_[i] / rows_;
    squares += mean * mean;
  }
  const double norm = std::sqrt(squares);
  std::vector<float> vector;
  vector.reserve(sum_.size());
  for (const double value : sum_) vector.push_back(static_cast<float>(norm > 0 ? value / rows_ / norm : 0));
  return vector;
}

}  // namespace plait
