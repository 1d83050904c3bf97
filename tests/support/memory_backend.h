// MemoryBackend: a Backend that only gives memory, for tests of what does not compute.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "backend/backend.h"
#include "base/check.h"

namespace plait {

class MemoryBackend final : public Backend {
 public:
  std::string_view name() const override { return "memory"; }
  bool is_host() const override { return true; }
  int threads() const override { return 1; }
  int activations() const override { return 8; }

  std::size_t limit = std::size_t{1} << 30;
  std::size_t allocated = 0;
  Result<std::unique_ptr<Buffer>> allocate(std::size_t bytes) override {
    if (bytes > limit) return fail(ErrorCode::kNoMemory, fmt::format("{} bytes wanted, {} there", bytes, limit));
    allocated += bytes;
    return std::unique_ptr<Buffer>(std::make_unique<Memory>(bytes));
  }
  std::size_t reserve_bytes(int, int) const override { return 0; }
  Result<void> reserve(int, int) override { return {}; }
  std::size_t reserve_experts_bytes(int, const Routing&, int) const override { return 0; }
  Result<void> reserve_experts(int, const Routing&, int) override { return {}; }
  std::size_t weight_bytes(const Format&, int, int) const override { return no<std::size_t>(); }
  Weight place(const RawTensor&, Buffer&, std::size_t) override { return no<Weight>(); }
  Weight load(const RawTensor&, Buffer&, std::size_t) override { return no<Weight>(); }
  void read(Tensor, std::span<float>) override { no<int>(); }
  void write(std::span<const float>, Tensor) override { no<int>(); }
  void embed(std::span<const Token>, const Weight&, float, Tensor) override { no<int>(); }
  void linear(Tensor, std::span<const Projection>) override { no<int>(); }
  void glu(const GluArgs&) override { no<int>(); }
  void experts(const ExpertArgs&) override { no<int>(); }
  void norm(const NormArgs&) override { no<int>(); }
  void rope(const RopeArgs&) override { no<int>(); }
  void attend(const AttendArgs&) override { no<int>(); }
  void conv(const ConvArgs&) override { no<int>(); }
  void l2_norm(const L2NormArgs&) override { no<int>(); }
  void decay(const DecayArgs&) override { no<int>(); }
  void recur(const RecurArgs&) override { no<int>(); }
  void sigmoid(Tensor) override { no<int>(); }
  void gate(const GateArgs&) override { no<int>(); }
  void add(Tensor, Tensor) override { no<int>(); }
  void gather_rows(Tensor, std::span<const int>, Tensor) override { no<int>(); }
  void host(const std::function<void(const Kernels&, ThreadPool&)>&) override { no<int>(); }

 private:
  class Memory final : public Buffer {
   public:
    explicit Memory(std::size_t bytes) : words_((bytes + 7) / 8), bytes_(bytes) {}
    std::size_t bytes() const override { return bytes_; }
    std::byte* host() override { return reinterpret_cast<std::byte*>(words_.data()); }

   private:
    std::vector<std::uint64_t> words_;
    std::size_t bytes_;
  };
  template <class T>
  static T no() {
    check(false, "this backend does not compute");
    return T{};
  }
};

}  // namespace plait
