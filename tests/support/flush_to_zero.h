// The calling thread's treatment of denormals, for tests of what must not depend on it.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace plait {

#if defined(__x86_64__)

constexpr unsigned kFlush = 0x8040u;  // Flush-to-zero and denormals-are-zero.

inline bool flushes_to_zero() { return (_mm_getcsr() & kFlush) != 0; }
inline void set_flush_to_zero(bool on) { _mm_setcsr(on ? _mm_getcsr() | kFlush : _mm_getcsr() & ~kFlush); }

#elif defined(__aarch64__)

constexpr std::uint64_t kFlush = 1u << 24;  // FZ: operands and results.

inline std::uint64_t float_control() {
  std::uint64_t mode;
  asm volatile("mrs %0, fpcr" : "=r"(mode));
  return mode;
}
inline bool flushes_to_zero() { return (float_control() & kFlush) != 0; }
inline void set_flush_to_zero(bool on) {
  asm volatile("msr fpcr, %0" ::"r"(on ? float_control() | kFlush : float_control() & ~kFlush));
}

#else

inline bool flushes_to_zero() { return false; }
inline void set_flush_to_zero(bool /*on*/) {}

#endif

}  // namespace plait
