// Read bandwidth, by summing a large buffer on all threads.
#include "examine/bandwidth.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>

namespace plait {
namespace {

constexpr std::size_t kBytes = 256u << 20;
constexpr int kPieces = 1 << 12;
constexpr std::ptrdiff_t kPiece = kBytes / sizeof(std::uint64_t) / kPieces;

// In large pages, as large weights are: with small ones the search for addresses would be measured.
constexpr std::size_t kLargePage = std::size_t{2} << 20;

// Eight sums, so that the loads and not the additions are what is waited for.
std::uint64_t sum_of(const std::uint64_t* data, std::size_t count) {
  std::uint64_t sums[8] = {};
  for (std::size_t i = 0; i + 8 <= count; i += 8) {
    for (std::size_t j = 0; j < 8; ++j) sums[j] += data[i + j];
  }
  return sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5] + sums[6] + sums[7];
}

}  // namespace

ReadBandwidth::ReadBandwidth(ThreadPool& pool)
    : pool_(pool), data_(static_cast<std::uint64_t*>(std::aligned_alloc(kLargePage, kBytes)), std::free) {
  if (data_ == nullptr) return;
#ifdef MADV_HUGEPAGE
  ::madvise(data_.get(), kBytes, MADV_HUGEPAGE);  // A hint.
#endif
  // Each piece is written first by the worker that will read it, so that it lies on that worker's node.
  pool_.parallel_for(
      kPieces,
      [&](int begin, int end, int) {
        std::fill(data_.get() + begin * kPiece, data_.get() + end * kPiece, std::uint64_t{1});
      },
      ThreadPool::Sharing::kOwn);
}

double ReadBandwidth::gbps(int passes) {
  if (data_ == nullptr) return 0;
  std::atomic<std::uint64_t> total{0};
  double best = 0;
  for (int pass = 0; pass < passes; ++pass) {
    const auto start = std::chrono::steady_clock::now();
    pool_.parallel_for(kPieces, [&](int begin, int end, int) {
      total += sum_of(data_.get() + begin * kPiece, static_cast<std::size_t>((end - begin) * kPiece));
    });
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    best = std::max(best, static_cast<double>(kBytes) / 1e9 / seconds.count());
  }
  // The sums are used, so that no compiler drops the loads.
  return total.load() == 0 ? 0 : best;
}

}  // namespace plait
