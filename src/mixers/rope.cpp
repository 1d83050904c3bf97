// Rope: frequencies once, angles as they are asked for.
#include "mixers/rope.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.h"

namespace plait {
namespace {

bool is_positive(double value) { return std::isfinite(value) && value > 0; }

// YaRN mixes the interpolated and the plain frequency of each pair by how often it turns within the trained context.
void apply_yarn(const RopeSpec& spec, std::vector<double>& inv_freq) {
  const auto pair_of = [&](double turns) {
    return spec.rotated * std::log(spec.original_context / (2 * std::numbers::pi * turns)) /
           (2 * std::log(spec.freq_base));
  };
  const double low = std::max(std::floor(pair_of(spec.beta_fast)), 0.0);
  double high = std::min(std::ceil(pair_of(spec.beta_slow)), spec.rotated - 1.0);
  if (low == high) high += 0.001;
  for (std::size_t i = 0; i < inv_freq.size(); ++i) {
    const double ramp = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
    inv_freq[i] *= 1 - ramp + ramp / spec.factor;
  }
}

}  // namespace

Result<Rope> Rope::make(const RopeSpec& spec) {
  if (spec.rotated <= 0 || spec.rotated % 2 != 0) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("rope.dimension_count is {}, wanted a positive even number", spec.rotated));
  }
  const std::size_t pairs = static_cast<std::size_t>(spec.rotated) / 2;
  if (!is_positive(spec.freq_base) || !is_positive(spec.factor)) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("rope.freq_base is {} and rope.scaling.factor {}, wanted positive numbers", spec.freq_base,
                            spec.factor));
  }
  if (!spec.divisors.empty() && spec.divisors.size() != pairs) {
    return fail(ErrorCode::kCorrupt, fmt::format("rope_freqs has {} values, wanted {}", spec.divisors.size(), pairs));
  }
  Rope rope;
  for (std::size_t i = 0; i < pairs; ++i) {
    double frequency = std::pow(spec.freq_base, -2.0 * static_cast<double>(i) / spec.rotated);
    if (!spec.divisors.empty()) {
      if (!is_positive(spec.divisors[i])) {
        return fail(ErrorCode::kCorrupt,
                    fmt::format("rope_freqs value {} is {}, wanted a positive number", i, spec.divisors[i]));
      }
      frequency /= static_cast<double>(spec.divisors[i]);
    }
    if (spec.scaling == RopeScaling::kLinear) frequency /= spec.factor;
    rope.inv_freq_.push_back(frequency);
  }
  if (spec.scaling == RopeScaling::kYarn) {
    if (!is_positive(spec.original_context) || !is_positive(spec.beta_fast) || !is_positive(spec.beta_slow) ||
        spec.freq_base <= 1) {
      return fail(
          ErrorCode::kCorrupt,
          fmt::format("YaRN needs a positive rope.scaling.original_context_length and betas, found {}, {} and {}",
                      spec.original_context, spec.beta_fast, spec.beta_slow));
    }
    apply_yarn(spec, rope.inv_freq_);
    rope.magnitude_ = 1.0 + 0.1 * std::log(std::max(spec.factor, 1.0));
  }
  return rope;
}

void Rope::row(int position, std::span<float> row) const {
  check(row.size() == 2 * inv_freq_.size(), "a rotary row has a cosine and a sine for each pair");
  for (std::size_t i = 0; i < inv_freq_.size(); ++i) {
    const double angle = static_cast<double>(position) * inv_freq_[i];
    row[i] = static_cast<float>(std::cos(angle) * magnitude_);
    row[inv_freq_.size() + i] = static_cast<float>(std::sin(angle) * magnitude_);
  }
}

}  // namespace plait
