// The float rules in plain code: one IEEE operation or one std::fma at a time, never contracted.
#include "support/float_reference.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace plait::rule {

float tree(const float (&lanes)[16]) {
  float s[16];
  for (int l = 0; l < 16; ++l) s[l] = lanes[l];
  for (int half = 8; half >= 2; half /= 2) {
    for (int l = 0; l < half; ++l) s[l] = s[l] + s[l + half];
  }
  return s[0] + s[1];
}

float dot16(std::span<const float> x, std::span<const float> y) {
  float s[16] = {};
  const std::size_t chunks = (x.size() + 15) / 16;
  for (std::size_t m = 0; m < chunks; ++m) {
    for (std::size_t l = 0; l < 16; ++l) {
      const std::size_t i = 16 * m + l;
      s[l] = i < x.size() ? std::fma(x[i], y[i], s[l]) : std::fma(0.0f, 0.0f, s[l]);
    }
  }
  return tree(s);
}

float sum16(std::span<const float> x) {
  float s[16] = {};
  const std::size_t chunks = (x.size() + 15) / 16;
  for (std::size_t m = 0; m < chunks; ++m) {
    for (std::size_t l = 0; l < 16; ++l) s[l] = s[l] + (16 * m + l < x.size() ? x[16 * m + l] : 0.0f);
  }
  return tree(s);
}

float exp(float x) {
  if (std::isnan(x)) return x;
  if (x > 0x1.62e42ep+6f) return std::numeric_limits<float>::infinity();
  if (x < -0x1.5d589ep+6f) return 0.0f;
  const float n = std::nearbyint(x * 0x1.715476p+0f);
  float r = std::fma(n, -0x1.62e400p-1f, x);
  r = std::fma(n, -0x1.7f7d1cp-20f, r);
  float p = 0x1.6a23d0p-10f;
  for (const float c : {0x1.123a20p-7f, 0x1.5558f2p-5f, 0x1.555492p-3f, 0x1.fffffcp-2f, 1.0f, 1.0f}) {
    p = std::fma(p, r, c);
  }
  const std::uint32_t shift = static_cast<std::uint32_t>(static_cast<std::int32_t>(n)) << 23;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(p) + shift);
}

float log1p(float t) {
  const float z = t / (2.0f + t);
  const float v = z * z;
  float q = 0x1.f1c23ep-3f;
  for (const float c : {0x1.b6d1e8p-3f, 0x1.2509a4p-2f, 0x1.9996a6p-2f, 0x1.555558p-1f}) q = std::fma(q, v, c);
  return std::fma(z * v, q, z + z);
}

float silu(float x) { return x / (1.0f + exp(-x)); }

float sigmoid(float x) { return 1.0f / (1.0f + exp(-x)); }

float softplus(float x) {
  if (std::isnan(x)) return x;
  return (x > 0 ? x : 0.0f) + log1p(exp(-std::fabs(x)));
}

float tanh(float x) {
  const float e = exp(-2.0f * std::fabs(x));
  return std::copysign((1.0f - e) / (1.0f + e), x);
}

float gelu_tanh(float x) {
  const float u = 0x1.988454p-1f * (x * std::fma(0.044715f, x * x, 1.0f));
  return x / (1.0f + exp(-2.0f * u));
}

float relu2(float x) {
  if (std::isnan(x)) return x;
  const float positive = x > 0 ? x : 0.0f;
  return positive * positive;
}

std::vector<float> rms_norm(std::span<const float> x, std::span<const float> w, float eps) {
  const float r = 1.0f / std::sqrt(dot16(x, x) / static_cast<float>(x.size()) + eps);
  std::vector<float> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = (x[i] * r) * w[i];
  return y;
}

std::vector<float> layer_norm(std::span<const float> x, std::span<const float> w, std::span<const float> b, float eps) {
  const float n = static_cast<float>(x.size());
  const float mean = sum16(x) / n;
  std::vector<float> d(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) d[i] = x[i] - mean;
  const float r = 1.0f / std::sqrt(dot16(d, d) / n + eps);
  std::vector<float> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = std::fma(d[i] * r, w[i], b[i]);
  return y;
}

std::vector<float> l2_norm(std::span<const float> x) {
  const float r = 1.0f / std::sqrt(dot16(x, x) + 1e-6f);
  std::vector<float> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] * r;
  return y;
}

std::vector<float> gated_norm(std::span<const float> x, std::span<const float> w, std::span<const float> z, float eps) {
  std::vector<float> y = rms_norm(x, w, eps);
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = y[i] * silu(z[i]);
  return y;
}

void rotate(float& x0, float& x1, float cosine, float sine) {
  const float y0 = std::fma(x0, cosine, -(x1 * sine));
  const float y1 = std::fma(x0, sine, x1 * cosine);
  x0 = y0;
  x1 = y1;
}

}  // namespace plait::rule

namespace plait::exact {

double silu(double x) { return x / (1 + std::exp(-x)); }

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }

double gelu_tanh(double x) {
  const double pi = 3.14159265358979323846;
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / pi) * (x + 0.044715 * x * x * x)));
}

std::vector<double> rms_norm(std::span<const float> x, std::span<const float> w, double eps) {
  double sum = 0;
  for (const float value : x) sum += static_cast<double>(value) * value;
  const double r = 1 / std::sqrt(sum / static_cast<double>(x.size()) + eps);
  std::vector<double> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] * r * w[i];
  return y;
}

std::vector<double> layer_norm(std::span<const float> x, std::span<const float> w, std::span<const float> b,
                               double eps) {
  const double n = static_cast<double>(x.size());
  double mean = 0, square = 0;
  for (const float value : x) mean += value / n;
  for (const float value : x) square += (value - mean) * (value - mean) / n;
  std::vector<double> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = (x[i] - mean) / std::sqrt(square + eps) * w[i] + b[i];
  return y;
}

}  // namespace plait::exact
