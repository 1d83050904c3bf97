// CpuBackend: the backend over Kernels and ThreadPool. Each operation is done at once, on all threads.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "backend/backend.h"
#include "backend/cpu/attend.h"
#include "backend/cpu/expert_rows.h"
#include "backend/cpu/recur.h"
#include "base/thread_pool.h"
#include "kernels/kernels.h"

namespace plait {

constexpr std::size_t kPageBytes = 4096;  // The system's smallest.

struct LinearJob;      // linear_job.h
struct LinearMode;     // linear_job.h
struct LinearScratch;  // linear_job.h

class CpuBackend final : public Backend {
 public:
  CpuBackend(const Kernels& kernels, const ThreadPlan& plan, int activations)
      : kernels_(kernels),
        activations_(activations),
        pool_(plan),
        attend_scratch_(plan.threads),
        recur_scratch_(plan.threads) {}

  std::string_view name() const override { return kernels_.name; }
  bool is_host() const override { return true; }
  int threads() const override { return pool_.threads(); }
  int activations() const override { return activations_; }
  KeptThread keep_caller() const override { return pool_.keep_caller(); }
  std::string places_text() const override { return plan_text(pool_.plan()); }
  std::string kernel_for(const Format& format) const override;  // linear_job.cpp

  Result<std::unique_ptr<Buffer>> allocate(std::size_t bytes) override;
  std::size_t reserve_bytes(int tokens, int cols) const override;  // linear.cpp
  Result<void> reserve(int tokens, int cols) override;
  std::size_t reserve_experts_bytes(int tokens, const Routing& routing, int hidden) const override;  // experts.cpp
  Result<void> reserve_experts(int tokens, const Routing& routing, int hidden) override;             // experts.cpp

  // load.cpp
  std::size_t weight_bytes(const Format& format, int rows, int cols) const override;
  Weight place(const RawTensor& raw, Buffer& buffer, std::size_t offset) override;
  Weight load(const RawTensor& raw, Buffer& buffer, std::size_t offset) override;

  void embed(std::span<const Token> tokens, const Weight& table, float scale, Tensor out) override;  // embed.cpp
  void linear(Tensor x, std::span<const Projection> projections) override;                           // linear.cpp
  void glu(const GluArgs& args) override;                                                            // linear.cpp

  void experts(const ExpertArgs& args) override;  // experts.cpp

  // float_ops.h and attend.h
  void norm(const NormArgs& args) override { plait::norm(args, floats()); }
  void rope(const RopeArgs& args) override { plait::rope(args, floats()); }
  void attend(const AttendArgs& args) override { plait::attend(args, floats(), attend_scratch_); }
  void conv(const ConvArgs& args) override { plait::conv(args, floats()); }
  void l2_norm(const L2NormArgs& args) override { plait::l2_norm(args, floats()); }
  void decay(const DecayArgs& args) override { plait::decay(args, floats()); }
  void recur(const RecurArgs& args) override { plait::recur(args, floats(), recur_scratch_); }
  void sigmoid(Tensor x) override { plait::sigmoid(x, floats()); }
  void gate(const GateArgs& args) override { plait::gate(args, floats()); }
  void add(Tensor x, Tensor y) override { plait::add(x, y, floats()); }
  void gather_rows(Tensor x, std::span<const int> rows, Tensor out) override { plait::gather_rows(x, rows, out); }
  void read(Tensor from, std::span<float> to) override { plait::read_rows(from, to); }
  void write(std::span<const float> from, Tensor to) override { plait::write_rows(from, to); }

  void host(const std::function<void(const Kernels& kernels, ThreadPool& pool)>& work) override {
    work(kernels_, pool_);
  }

 private:
  bool by_node() const { return pool_.plan().nodes > 1; }
  // load.cpp
  Weight weight_at(const RawTensor& raw, Buffer& buffer, std::size_t offset) const;
  void for_pairs(int pairs, const std::function<void(int begin, int end, int worker)>& body);

  FloatRunner floats() { return {kernels_.floats, pool_}; }
  LinearMode mode() const;
  LinearScratch linear_scratch(int tokens, int cols) const;
  void quantize(Tensor x, const LinearKernel& kernel, ActivationGroup* out);
  void run_jobs(std::span<const LinearJob> jobs, const LinearScratch& scratch);
  void run_glu(const GluArgs& args, const LinearJob* gate, const LinearJob* up, const LinearScratch& scratch);

  // experts.cpp
  void run_experts(const ExpertArgs& args, const LinearJob* gate, const LinearJob* up, const LinearScratch& scratch);
  void run_downs(const ExpertArgs& args, const LinearJob& down, const LinearScratch& scratch);
  void combine_experts(const ExpertArgs& args);

  const Kernels& kernels_;
  const int activations_;  // Bits: 8, 16 or 32.
  ThreadPool pool_;
  AttendScratch attend_scratch_;
  RecurScratch recur_scratch_;
  // Scratch of linear() and glu(), taken in reserve().
  std::unique_ptr<Buffer> linear_scratch_;
  int reserved_tokens_ = 0, reserved_cols_ = 0;
  // The same of experts().
  ExpertRows expert_rows_;
  std::unique_ptr<Buffer> expert_groups_;  // Hidden values of all rows as codes; empty where they stay floats.
};

// A vector of f32 stays as it is; all other weights may be packed.
constexpr bool is_plain_vector(const Format& format, int rows) { return rows == 1 && format.info.gguf_type == 0; }

}  // namespace plait
