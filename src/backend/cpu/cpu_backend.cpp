// CpuBackend: its memory, and how it is made.
#include "backend/cpu/cpu_backend.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>

#include "base/topology.h"
#include "isa/select.h"

namespace plait {
namespace {

// Pages of the system: zero until they are written, and taken only then.
class PageBuffer final : public Buffer {
 public:
  PageBuffer(std::byte* data, std::size_t bytes) : data_(data), bytes_(bytes) {}
  ~PageBuffer() override { ::munmap(data_, std::max<std::size_t>(bytes_, 1)); }
  PageBuffer(const PageBuffer&) = delete;
  PageBuffer& operator=(const PageBuffer&) = delete;

  std::size_t bytes() const override { return bytes_; }
  std::byte* host() override { return data_; }
  // Whole pages only: what shares one with something else stays.
  void discard(std::size_t offset, std::size_t bytes) override {
    const std::size_t begin = (offset + kPageBytes - 1) / kPageBytes * kPageBytes;
    const std::size_t end = (offset + bytes) / kPageBytes * kPageBytes;
    if (begin < end) ::madvise(data_ + begin, end - begin, MADV_DONTNEED);
  }

 private:
  std::byte* data_;
  std::size_t bytes_;
};

}  // namespace

Result<std::unique_ptr<Buffer>> CpuBackend::allocate(std::size_t bytes) {
  constexpr int kAccess = PROT_READ | PROT_WRITE, kKind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* data = ::mmap(nullptr, std::max<std::size_t>(bytes, 1), kAccess, kKind, -1, 0);
  if (data == MAP_FAILED) {
    return fail(ErrorCode::kNoMemory, fmt::format("{} bytes of memory were asked for and cannot be had", bytes));
  }
  return std::unique_ptr<Buffer>(std::make_unique<PageBuffer>(static_cast<std::byte*>(data), bytes));
}

Result<void> CpuBackend::reserve(int tokens, int cols) {
  Result<std::unique_ptr<Buffer>> memory = allocate(reserve_bytes(tokens, cols));
  if (!memory) return fail(memory.error());
  linear_scratch_ = std::move(*memory);
  reserved_tokens_ = tokens;
  reserved_cols_ = cols;
  return {};
}

Result<std::unique_ptr<Backend>> make_cpu_backend(const CpuOptions& options) {
  if (options.threads < 0 || options.threads > kMaxThreads) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} threads were asked for, 0 (the machine's choice) to {} are possible", options.threads,
                            kMaxThreads));
  }
  if (options.activations != 8 && options.activations != 16 && options.activations != 32) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("activations are to have {} bits, 8, 16 or 32 are possible", options.activations));
  }
  Result<const Kernels*> kernels = kernels_for(options.isa);
  if (!kernels) return fail(kernels.error());
  const ThreadPlan plan =
      plan_threads(read_topology("/", allowed_processors()), {.threads = options.threads, .pin = options.pin});
  auto backend = std::make_unique<CpuBackend>(**kernels, plan, options.activations);
  if (backend->threads() != plan.threads) {
    return fail(ErrorCode::kNoMemory, fmt::format("{} threads are wanted, the system gives {}; fewer can be asked for",
                                                  plan.threads, backend->threads()));
  }
  return std::unique_ptr<Backend>(std::move(backend));
}

}  // namespace plait
