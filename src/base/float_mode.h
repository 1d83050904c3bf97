// FloatMode: round to nearest, denormals honoured, while it lives; the thread's own mode comes back after.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace plait {

class FloatMode {
 public:
  FloatMode() {
#if defined(__x86_64__)
    saved_ = _mm_getcsr();
    _mm_setcsr(0x1f80u);  // All exceptions masked, nearest even, neither flush-to-zero nor denormals-are-zero.
#elif defined(__aarch64__)
    std::uint64_t mode;
    asm volatile("mrs %0, fpcr" : "=r"(mode));
    saved_ = mode;
    asm volatile("msr fpcr, %0" ::"r"(std::uint64_t{0}));
#endif
  }
  ~FloatMode() {
#if defined(__x86_64__)
    _mm_setcsr(static_cast<unsigned>(saved_));
#elif defined(__aarch64__)
    asm volatile("msr fpcr, %0" ::"r"(saved_));
#endif
  }
  FloatMode(const FloatMode&) = delete;
  FloatMode& operator=(const FloatMode&) = delete;

 private:
  std::uint64_t saved_ = 0;
};

}  // namespace plait
