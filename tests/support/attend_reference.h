// Attention of one query (linear-kernels.md 7.3), slowly: `rule` gives the bits, `exact` the value in double.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "backend/ops.h"

namespace plait {

// One query and head. Rows that are not visible are never read.
struct AttendCase {
  std::span<const float> q;                                 // [key_dim], not yet scaled.
  const std::vector<std::vector<float>>* keys = nullptr;    // One row a position, already rounded to the row type.
  const std::vector<std::vector<float>>* values = nullptr;  // Likewise.
  int position = 0;                                         // Of the query.
  float scale = 1;
  int window = 0;
  float soft_cap = 0;
  const float* sink = nullptr;
};

// `value` as a row of this type keeps it.
float round_to(RowType type, float value);

namespace rule {
std::vector<float> attend(const AttendCase& args);
}
namespace exact {
std::vector<double> attend(const AttendCase& args);
// Σ |weight * value| of each output: what a tolerance is a multiple of.
std::vector<double> attend_terms(const AttendCase& args);
}  // namespace exact

}  // namespace plait
