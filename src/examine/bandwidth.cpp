// Read bandwidth, by summing a large buffer on all threads.
#include "examine/bandwidth.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace plait {
namespace {

constexpr std::size_t kBytes = 256u << 20;

// Eight sums, so that the loads and not the additions are what is waited for.
std::uint64_t sum_of(const std::uint64_t* data, std::size_t count) {
  std::uint64_t sums[8] = {};
  for (std::size_t i = 0; i + 8 <= count; i += 8) {
    for (std::size_t j = 0; j < 8; ++j) sums[j] += data[i + j];
  }
  return sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5] + sums[6] + sums[7];
}

}  // namespace

double read_bandwidth(ThreadPool& pool, int rounds) {
  constexpr std::size_t kCount = kBytes / sizeof(std::uint64_t);
  constexpr int kPieces = 1 << 12;
  constexpr std::ptrdiff_t kPiece = kCount / kPieces;
  // Each piece is written first by the worker that will read it, so that it lies on that worker's node.
  // In large pages, as large weights are: with small ones the search for addresses would be measured.
  constexpr std::size_t kLargePage = std::size_t{2} << 20;
  const std::unique_ptr<std::uint64_t[], void (*)(void*)> data(
      static_cast<std::uint64_t*>(std::aligned_alloc(kLargePage, kBytes)), std::free);
  if (data == nullptr) return 0;
#ifdef MADV_HUGEPAGE
  ::madvise(data.get(), kBytes, MADV_HUGEPAGE);  // A hint.
#endif
  pool.parallel_for(
      kPieces,
      [&](int begin, int end, int) {
        std::fill(data.get() + begin * kPiece, data.get() + end * kPiece, std::uint64_t{1});
      },
      ThreadPool::Sharing::kOwn);
  std::atomic<std::uint64_t> total{0};
  double best = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    pool.parallel_for(kPieces, [&](int begin, int end, int) {
      total += sum_of(data.get() + begin * kPiece, static_cast<std::size_t>((end - begin) * kPiece));
    });
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    best = std::max(best, static_cast<double>(kBytes) / seconds.count());
  }
  // The sums are used, so that no compiler drops the loads.
  return total.load() == 0 ? 0 : best;
}

}  // namespace plait
