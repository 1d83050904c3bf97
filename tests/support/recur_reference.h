// The gated delta rule of one head, slowly: `rule` gives the bits of anchored-recurrence.md 2.1 and 2.3, `classic` is
// the usual step in f32, `exact` the same in double.
#pragma once

#include <cstddef>
#include <vector>

namespace plait {

// [tokens, width] each; q and k are ready for use.
struct RecurHead {
  int tokens = 0, key_dim = 0, value_dim = 0;
  std::vector<float> q, k, v, decay, beta;
};

struct RecurTrace {
  std::vector<float> out, u;                // [tokens, value_dim]
  std::vector<std::vector<float>> anchors;  // At 16, 32, ...: [key_dim][value_dim]
};

namespace rule {
RecurTrace recur(const RecurHead& head);
}
namespace classic {
std::vector<float> recur(const RecurHead& head);
}
namespace exact {
std::vector<double> recur(const RecurHead& head);
}

// Relative rms error.
double rms_error(const std::vector<float>& found, const std::vector<double>& wanted);

}  // namespace plait
