// Backend: a processor with memory. Operations are made in order and read like the paper; they cannot fail.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "backend/ops.h"
#include "backend/tensor.h"
#include "base/thread_plan.h"
#include "formats/raw_tensor.h"
#include "plait/result.h"

namespace plait {

struct Kernels;
class ThreadPool;

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  virtual bool is_host() const = 0;  // Its memory can be read in place.
  virtual int threads() const = 0;
  virtual int activations() const = 0;  // Bits of the activations that meet quantized weights: 8, 16 or 32.
  // The calling thread keeps to the place of the first worker while what is returned lives.
  virtual KeptThread keep_caller() const { return {}; }
  // For reports: where threads run, and what multiplies with weights of a format ("direct", "expanded, panels from 24
  // tokens").
  virtual std::string places_text() const { return {}; }
  virtual std::string kernel_for(const Format& /*format*/) const { return {}; }

  // Zeroed bytes, 64-byte aligned, or an error with the number that was asked for. Where the backend can, memory is
  // taken only as it is written: more may be asked for than is there.
  virtual Result<std::unique_ptr<Buffer>> allocate(std::size_t bytes) = 0;
  // Takes the scratch memory of steps of at most `tokens` tokens over weights of at most `cols` inputs, so many bytes.
  // Before the first step.
  virtual std::size_t reserve_bytes(int tokens, int cols) const = 0;
  virtual Result<void> reserve(int tokens, int cols) = 0;
  // The same for experts() of this routing over `hidden` values; the largest call counts.
  virtual std::size_t reserve_experts_bytes(int tokens, const Routing& routing, int hidden) const = 0;
  virtual Result<void> reserve_experts(int tokens, const Routing& routing, int hidden) = 0;

  // Bytes that load() takes for a matrix of this format and shape; a multiple of 64.
  virtual std::size_t weight_bytes(const Format& format, int rows, int cols) const = 0;
  // The weight that load() makes of this, its bytes not yet there. Of `raw`, only format and shape count.
  // Where memory has several nodes, its bytes lie on those from then on.
  virtual Weight place(const RawTensor& raw, Buffer& buffer, std::size_t offset) = 0;
  // Rearranges `raw` into `buffer` at `offset`, a multiple of 64. Vectors (one row) of f32 stay as they are. The caller
  // has checked format and shape, so it cannot fail.
  virtual Weight load(const RawTensor& raw, Buffer& buffer, std::size_t offset) = 0;

  virtual void read(Tensor from, std::span<float> to) = 0;  // Row after row; waits for what was recorded.
  virtual void write(std::span<const float> from, Tensor to) = 0;

  // out[t] = row tokens[t] of the table, decoded, times `scale` if that is not 1.
  virtual void embed(std::span<const Token> tokens, const Weight& table, float scale, Tensor out) = 0;
  // Several projections of one input at once (q, k and v); each output element is that of linear-kernels.md 1.
  virtual void linear(Tensor x, std::span<const Projection> projections) = 0;
  virtual void glu(const GluArgs& args) = 0;
  virtual void experts(const ExpertArgs& args) = 0;
  virtual void norm(const NormArgs& args) = 0;
  virtual void rope(const RopeArgs& args) = 0;
  virtual void attend(const AttendArgs& args) = 0;
  virtual void conv(const ConvArgs& args) = 0;
  virtual void l2_norm(const L2NormArgs& args) = 0;
  virtual void decay(const DecayArgs& args) = 0;
  virtual void recur(const RecurArgs& args) = 0;
  virtual void sigmoid(Tensor x) = 0;  // In place.
  virtual void gate(const GateArgs& args) = 0;
  virtual void add(Tensor x, Tensor y) = 0;  // x = x + y
  virtual void gather_rows(Tensor x, std::span<const int> rows, Tensor out) = 0;

  // Work on the host for what has no operation yet; only where is_host().
  virtual void host(const std::function<void(const Kernels& kernels, ThreadPool& pool)>& work) = 0;
};

struct CpuOptions {
  int threads = 0;  // 0: performance cores that this process may use, within its quota.
  std::string isa;  // Empty: the best that this machine has.
  bool pin = true;  // Threads keep to their cores.
  // Bits of the activations that meet quantized weights: 8; 16 is 256 times as exact; 32 computes in floats.
  int activations = 8;
};
// Fails on an instruction set that is unknown or that the machine lacks, named with those it has, and on another number
// of bits.
Result<std::unique_ptr<Backend>> make_cpu_backend(const CpuOptions& options);

}  // namespace plait
