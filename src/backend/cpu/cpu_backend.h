// CpuBackend: the backend over Kernels and ThreadPool. Each operation is done at once, on all threads.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "backend/backend.h"
#include "base/thread_pool.h"
#include "kernels/kernels.h"

namespace plait {

class CpuBackend final : public Backend {
 public:
  CpuBackend(const Kernels& kernels, int threads) : kernels_(kernels), pool_(threads) {}

  std::string_view name() const override { return kernels_.name; }
  bool is_host() const override { return true; }
  int threads() const override { return pool_.threads(); }

  Result<std::unique_ptr<Buffer>> allocate(std::size_t bytes) override;
  Result<void> reserve(int tokens, int cols) override;

  // load.cpp
  std::size_t weight_bytes(const Format& format, int rows, int cols) const override;
  Weight load(const RawTensor& raw, Buffer& buffer, std::size_t offset) override;

  void read(Tensor from, std::span<float> to) override;

  void embed(std::span<const Token> tokens, const Weight& table, float scale, Tensor out) override;  // embed.cpp
  void linear(Tensor x, std::span<const Projection> projections) override;                           // linear.cpp
  void glu(const GluArgs& args) override;                                                            // linear.cpp
  void norm(const NormArgs& args) override;                                                          // norm.cpp
  void rope(const RopeArgs& args) override;                                                          // rope.cpp
  void attend(const AttendArgs& args) override;                                                      // attend.cpp
  void add(Tensor x, Tensor y) override;                                                             // elementwise.cpp
  void gather_rows(Tensor x, std::span<const int> rows, Tensor out) override;                        // elementwise.cpp

  void host(const std::function<void(const Kernels& kernels, ThreadPool& pool)>& work) override;

 private:
  const Kernels& kernels_;
  ThreadPool pool_;
  // Scratch of a step, taken in reserve().
  int reserved_tokens_ = 0, reserved_cols_ = 0;
  std::unique_ptr<Buffer> linear_scratch_;  // linear.cpp
  std::unique_ptr<Buffer> attend_scratch_;  // attend.cpp
};

}  // namespace plait
