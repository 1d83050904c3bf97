// Plain loops, one output at a time.
#include "support/linear_reference.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace plait {
namespace {

Group group_of(const ReferenceLinear& w, int row, int g) {
  const FormatInfo& info = w.format->info;
  const int groups = info.block_values / 32;
  const std::byte* begin = w.rows + static_cast<std::ptrdiff_t>(row) * row_blocks(info, w.cols) * info.block_bytes;
  Group group;
  w.format->group(begin + static_cast<std::ptrdiff_t>(g / groups) * info.block_bytes, g % groups, group);
  return group;
}

std::vector<float> decoded_row(const ReferenceLinear& w, int row) {
  const FormatInfo& info = w.format->info;
  std::vector<float> values(static_cast<std::size_t>(w.cols));
  w.format->decode(w.rows + static_cast<std::ptrdiff_t>(row) * row_blocks(info, w.cols) * info.block_bytes, w.cols,
                   values.data());
  return values;
}

float quantized_output(const ReferenceLinear& w, int row, const std::vector<ReferenceGroup>& x) {
  const int parts = w.format->info.scales_per_group, size = 32 / parts;
  float acc = 0;
  for (int g = 0; g < static_cast<int>(x.size()); ++g) {
    const Group group = group_of(w, row, g);
    const ReferenceGroup& q = x[static_cast<std::size_t>(g)];
    float v = 0;
    for (int part = 0; part < parts; ++part) {
      std::int32_t d = 0, sum = 0;
      for (int i = part * size; i < (part + 1) * size; ++i) {
        d += group.values[i] * q.codes[i];
        sum += q.codes[i];
      }
      const float scale = group.scales[part];
      v = part == 0 ? static_cast<float>(d) * scale : std::fma(static_cast<float>(d), scale, v);
      if (w.format->info.has_mins) v = std::fma(-group.mins[part], static_cast<float>(sum), v);
    }
    acc = std::fma(v, q.scale, acc);
  }
  return acc;
}

float float_output(const ReferenceLinear& w, int row, const float* x) {
  const std::vector<float> weights = decoded_row(w, row);
  float y = 0;
  for (int begin = 0; begin < w.cols; begin += 256) {
    float a = 0;
    for (int k = begin; k < std::min(begin + 256, w.cols); ++k)
      a = std::fma(weights[static_cast<std::size_t>(k)], x[k], a);
    y = y + a;
  }
  return y;
}

int steps_of(const ReferenceLinear& w) { return w.activations == 16 ? kReferenceFineSteps : kReferenceSteps; }

bool computes_in_floats(const ReferenceLinear& w) { return w.format->info.is_float || w.activations == 32; }

std::vector<ReferenceGroup> quantized(const ReferenceLinear& w, const float* x) {
  std::vector<ReferenceGroup> groups;
  for (int begin = 0; begin < w.cols; begin += 32) {
    groups.push_back(reference_quantize(x + begin, std::min(32, w.cols - begin), steps_of(w)));
  }
  return groups;
}

double gamma(double n) {
  const double u = 0x1p-24;
  return n * u / (1 - n * u);
}

BoundedOutput quantized_bounds(const ReferenceLinear& w, int row, const float* x) {
  const std::vector<ReferenceGroup> groups = quantized(w, x);
  const FormatInfo& info = w.format->info;
  const int parts = info.scales_per_group, size = 32 / parts;
  BoundedOutput out;
  double terms = 0, moved = 0;
  for (int g = 0; g < static_cast<int>(groups.size()); ++g) {
    const Group group = group_of(w, row, g);
    const ReferenceGroup& q = groups[static_cast<std::size_t>(g)];
    double top = 0, weights = 0;
    for (int i = 0; i < 32; ++i) top = std::max(top, std::abs(static_cast<double>(x[32 * g + i])));
    for (int part = 0; part < parts; ++part) {
      double d = 0, sum = 0;
      for (int i = part * size; i < (part + 1) * size; ++i) {
        const double weight = static_cast<double>(group.scales[part]) * group.values[i] -
                              (info.has_mins ? static_cast<double>(group.mins[part]) : 0.0);
        d += static_cast<double>(group.values[i]) * q.codes[i];
        sum += q.codes[i];
        weights += std::abs(weight);
        out.exact += weight * q.codes[i] * static_cast<double>(q.scale);
        out.from_floats += weight * static_cast<double>(x[32 * g + i]);
      }
      const double min = info.has_mins ? static_cast<double>(group.mins[part]) : 0.0;
      terms += std::abs(static_cast<double>(q.scale)) *
               (std::abs(d * static_cast<double>(group.scales[part])) + std::abs(min * sum));
    }
    moved += top * weights;
  }
  const int formed = parts == 2 && info.has_mins ? 4 : parts == 2 || info.has_mins ? 2 : 1;
  const int rounded = w.activations == 16 ? 1 : 0;  // A sum of codes of 16 bits, when it becomes a float.
  const double count = static_cast<double>(groups.size()) + formed + rounded;
  out.bound = gamma(count) * terms + count * 0x1p-149;
  // Half a step and the roundings: 1 / 254 + 4u and 1 / 65024 + 4u, rounded up.
  out.from_floats_bound = out.bound + (w.activations == 16 ? 1.5618e-5 : 0.003938) * moved;
  return out;
}

BoundedOutput float_bounds(const ReferenceLinear& w, int row, const float* x) {
  const std::vector<float> weights = decoded_row(w, row);
  BoundedOutput out;
  double terms = 0;
  for (int k = 0; k < w.cols; ++k) {
    const double term = static_cast<double>(weights[static_cast<std::size_t>(k)]) * static_cast<double>(x[k]);
    out.exact += term;
    terms += std::abs(term);
  }
  out.bound = gamma(256 + std::ceil(w.cols / 256.0)) * terms + w.cols * 0x1p-149;
  out.from_floats = out.exact;
  out.from_floats_bound = out.bound;
  return out;
}

}  // namespace

ReferenceGroup reference_quantize(const float* x, int count, int steps) {
  ReferenceGroup out{};
  std::uint32_t top_bits = 0;
  for (int i = 0; i < count; ++i) top_bits = std::max(top_bits, std::bit_cast<std::uint32_t>(x[i]) & 0x7fffffffu);
  const float top = std::bit_cast<float>(top_bits);
  if (top_bits >= 0x7f800000u) {
    out.scale = std::numeric_limits<float>::quiet_NaN();
  } else if (top >= 0x1p-100f) {
    out.scale = top / static_cast<float>(steps);
    const float inverse = static_cast<float>(steps) / top;
    for (int i = 0; i < count; ++i) out.codes[i] = static_cast<int>(std::nearbyint(x[i] * inverse));
  }
  return out;
}

std::vector<float> reference_linear(const ReferenceLinear& w, const float* x) {
  std::vector<float> out(static_cast<std::size_t>(w.row_count));
  const std::vector<ReferenceGroup> groups = quantized(w, x);
  for (int row = 0; row < w.row_count; ++row) {
    float y = computes_in_floats(w) ? float_output(w, row, x) : quantized_output(w, row, groups);
    if (w.tensor_scale != 1.0f) y = y * w.tensor_scale;
    if (w.bias != nullptr) y = y + w.bias[row];
    out[static_cast<std::size_t>(row)] = y;
  }
  return out;
}

std::vector<BoundedOutput> reference_linear_bounds(const ReferenceLinear& w, const float* x) {
  std::vector<BoundedOutput> out;
  for (int row = 0; row < w.row_count; ++row) {
    out.push_back(computes_in_floats(w) ? float_bounds(w, row, x) : quantized_bounds(w, row, x));
  }
  return out;
}

}  // namespace plait
