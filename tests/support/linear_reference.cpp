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
  const std::byte* begin = w.rows + static_cast<std::ptrdiff_t>(row) * (w.cols / info.block_values) * info.block_bytes;
  Group group;
  w.format->group(begin + static_cast<std::ptrdiff_t>(g / groups) * info.block_bytes, g % groups, group);
  return group;
}

std::vector<float> decoded_row(const ReferenceLinear& w, int row) {
  const FormatInfo& info = w.format->info;
  std::vector<float> values(static_cast<std::size_t>(w.cols));
  w.format->decode(w.rows + static_cast<std::ptrdiff_t>(row) * (w.cols / info.block_values) * info.block_bytes, w.cols,
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

std::vector<ReferenceGroup> quantized(const float* x, int cols) {
  std::vector<ReferenceGroup> groups;
  for (int begin = 0; begin < cols; begin += 32) {
    groups.push_back(reference_quantize(x + begin, std::min(32, cols - begin)));
  }
  return groups;
}

double gamma(double n) {
  const double u = 0x1p-24;
  return n * u / (1 - n * u);
}

BoundedOutput quantized_bounds(const ReferenceLinear& w, int row, const float* x) {
  const std::vector<ReferenceGroup> groups = quantized(x, w.cols);
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
  const int steps = parts == 2 && info.has_mins ? 4 : parts == 2 || info.has_mins ? 2 : 1;
  const double count = static_cast<double>(groups.size());
  out.bound = gamma(count + steps) * terms + (count + steps) * 0x1p-149;
  out.from_floats_bound = out.bound + 0.003938 * moved;
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

ReferenceGroup reference_quantize(const float* x, int count) {
  ReferenceGroup out{};
  std::uint32_t top_bits = 0;
  for (int i = 0; i < count; ++i) top_bits = std::max(top_bits, std::bit_cast<std::uint32_t>(x[i]) & 0x7fffffffu);
  const float top = std::bit_cast<float>(top_bits);
  if (top_bits >= 0x7f800000u) {
    out.scale = std::numeric_limits<float>::quiet_NaN();
  } else if (top >= 0x1p-100f) {
    out.scale = top / 127;
    const float inverse = 127 / top;
    for (int i = 0; i < count; ++i) out.codes[i] = static_cast<std::int8_t>(std::nearbyint(x[i] * inverse));
  }
  return out;
}

std::vector<float> reference_linear(const ReferenceLinear& w, const float* x) {
  std::vector<float> out(static_cast<std::size_t>(w.row_count));
  const std::vector<ReferenceGroup> groups = quantized(x, w.cols);
  for (int row = 0; row < w.row_count; ++row) {
    float y = w.format->info.is_float ? float_output(w, row, x) : quantized_output(w, row, groups);
    if (w.tensor_scale != 1.0f) y = y * w.tensor_scale;
    if (w.bias != nullptr) y = y + w.bias[row];
    out[static_cast<std::size_t>(row)] = y;
  }
  return out;
}

std::vector<BoundedOutput> reference_linear_bounds(const ReferenceLinear& w, const float* x) {
  std::vector<BoundedOutput> out;
  for (int row = 0; row < w.row_count; ++row) {
    out.push_back(w.format->info.is_float ? float_bounds(w, row, x) : quantized_bounds(w, row, x));
  }
  return out;
}

}  // namespace plait
