// The two bounds of a product: how fast this machine reads memory, and how many 8-bit products it does. One line of
// JSON.
//
//   peak_bench 2          threads
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstring>

#include "base/thread_pool.h"
#include "examine/bandwidth.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace plait {
namespace {

#if defined(__x86_64__)
// `count` times sixteen chains of vpdpbusd, each 64 products and sums a step.
[[gnu::target("avx512f,avx512vnni")]] void dot_chains(std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    asm volatile(
        ".irp sum, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n\t"
        "vpdpbusd %%zmm31, %%zmm30, %%zmm\\sum\n\t"
        ".endr" ::
            : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
              "xmm13", "xmm14", "xmm15");
  }
}

// Operations a second on all threads (a product and a sum are two); the best of five.
double int8_peak(ThreadPool& pool) {
  constexpr std::int64_t kCount = 4'000'000;
  double best = 0;
  for (int round = 0; round < 5; ++round) {
    const auto start = std::chrono::steady_clock::now();
    pool.run([](int, int) { dot_chains(kCount); });
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    best = std::max(best, 2.0 * 64 * 16 * static_cast<double>(kCount) * pool.threads() / seconds.count());
  }
  return best;
}
bool has_vnni() { return __builtin_cpu_supports("avx512vnni"); }
#else
double int8_peak(ThreadPool&) { return 0; }
bool has_vnni() { return false; }
#endif

}  // namespace
}  // namespace plait

int main(int argc, char** argv) {
  int threads = 1;
  if (argc > 1) std::from_chars(argv[1], argv[1] + std::strlen(argv[1]), threads);
  if (threads < 1 || !plait::has_vnni()) {
    fmt::print(stderr, "peak_bench: wants a number of threads, and a processor with AVX-512 VNNI\n");
    return 1;
  }
  plait::ThreadPool pool(threads);
  fmt::print("{{\"threads\":{},\"read_gbps\":{:.1f},\"int8_gops\":{:.0f}}}\n", threads,
             plait::ReadBandwidth(pool).gbps(10), plait::int8_peak(pool) / 1e9);
  return 0;
}
