// The operations of a CPU backend that are float arithmetic alone, over a table of kernels and a thread pool.
#pragma once

#include <span>

#include "backend/ops.h"
#include "kernels/float_kernels.h"

namespace plait {

class ThreadPool;

struct FloatRunner {
  const FloatKernels& kernels;
  ThreadPool& pool;
};

void norm(const NormArgs& args, FloatRunner on);
void rope(const RopeArgs& args, FloatRunner on);
void l2_norm(const L2NormArgs& args, FloatRunner on);
void decay(const DecayArgs& args, FloatRunner on);
void sigmoid(Tensor x, FloatRunner on);  // In place.
void gate(const GateArgs& args, FloatRunner on);
void add(Tensor x, Tensor y, FloatRunner on);  // x = x + y
// out = act(gate) * up; `out` may be either.
void activate(Activation activation, Tensor gate, Tensor up, Tensor out, FloatRunner on);
void gather_rows(Tensor x, std::span<const int> rows, Tensor out);
void read_rows(Tensor from, std::span<float> to);
void write_rows(std::span<const float> from, Tensor to);

}  // namespace plait
