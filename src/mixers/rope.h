// Rope: the angles of a rotary position embedding, a pure function of (position, pair).
#pragma once

#include <span>
#include <vector>

#include "plait/result.h"

namespace plait {

enum class RopeScaling { kNone, kLinear, kYarn };

// Definitions: Su et al. 2021 (RoFormer); Peng et al. 2023 (YaRN); gguf-architectures.md 3.1 and 3.4.
struct RopeSpec {
  int rotated = 0;  // Values of a head that are turned, even.
  double freq_base = 10000.0;
  RopeScaling scaling = RopeScaling::kNone;
  double factor = 1.0;          // Of the scaling.
  double original_context = 0;  // YaRN: the length that was trained before it.
  double beta_fast = 32.0, beta_slow = 1.0;
  std::vector<float> divisors;  // rope_freqs: one for each pair, or empty.
};

class Rope {
 public:
  // Fails on numbers that make no angle: odd or zero width, bases and factors that are not positive and finite.
  static Result<Rope> make(const RopeSpec& spec);

  int rotated() const { return static_cast<int>(2 * inv_freq_.size()); }
  // The cosines of all pairs at that position, then their sines, in double throughout, rounded once. row.size() ==
  // rotated().
  void row(int position, std::span<float> row) const;

 private:
  std::vector<double> inv_freq_;
  double magnitude_ = 1.0;  // YaRN's factor on cosines and sines.
};

}  // namespace plait
