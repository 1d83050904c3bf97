// The float rules (linear-kernels.md 7), slowly: `rule` is a plain float transcription whose bits kernels must give,
// `exact` is the same mathematics in double.
#pragma once

#include <span>
#include <vector>

namespace plait::rule {

float tree(const float (&lanes)[16]);
float dot16(std::span<const float> x, std::span<const float> y);
float sum16(std::span<const float> x);

float exp(float x);
float log1p(float t);  // 0 <= t <= 1
float silu(float x);
float sigmoid(float x);
float softplus(float x);
float tanh(float x);
float gelu_tanh(float x);
float relu2(float x);

std::vector<float> rms_norm(std::span<const float> x, std::span<const float> w, float eps);
std::vector<float> layer_norm(std::span<const float> x, std::span<const float> w, std::span<const float> b, float eps);
std::vector<float> l2_norm(std::span<const float> x);
std::vector<float> gated_norm(std::span<const float> x, std::span<const float> w, std::span<const float> z, float eps);

// Rotates the pair (x0, x1) in place.
void rotate(float& x0, float& x1, float cosine, float sine);

}  // namespace plait::rule

namespace plait::exact {

double silu(double x);
double sigmoid(double x);
double softplus(double x);
double gelu_tanh(double x);
std::vector<double> rms_norm(std::span<const float> x, std::span<const float> w, double eps);
std::vector<double> layer_norm(std::span<const float> x, std::span<const float> w, std::span<const float> b,
                               double eps);

}  // namespace plait::exact
