// x86-64 with AVX-VNNI: AVX2 and the exact product of four bytes.
#if defined(__x86_64__)

#include <immintrin.h>

#include "isa/before_region.h"

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c,avxvnni"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c,avxvnni")
#endif

#include "isa/avx2_vocabulary.h"
#include "kernels/table.h"

namespace plait {

struct AvxVnni : Avx2Vocabulary {
  static constexpr std::string_view kName = "avxvnni";
  static constexpr int kZero8 = 128;
  static constexpr int kDirectTokens = 6;
  static constexpr bool kCodesAlike = true;

  template <int kMaxCode>
  using Dot = I32x16;

  [[gnu::always_inline]] static U8x64 bytes8(U8x64 a) { return a; }

  template <int kMaxCode>
  [[gnu::always_inline]] static I32x16 dot_begin(I32x16 start) {
    return start;
  }
  template <int kMaxCode>
  [[gnu::always_inline]] static void dot_step(I32x16& d, U8x64 w, const void* x, int /*i*/, int /*count*/) {
    std::int32_t four;
    std::memcpy(&four, x, 4);
    const __m256i q = _mm256_set1_epi32(four);
    d = {_mm256_dpbusd_avx_epi32(d.lo, w.lo, q), _mm256_dpbusd_avx_epi32(d.hi, w.hi, q)};
  }
  template <int kMaxCode>
  [[gnu::always_inline]] static I32x16 dot_end(I32x16 d) {
    return d;
  }
};

static_assert(Vocabulary<AvxVnni>);

extern const Kernels kAvxVnni;
constinit const Kernels kAvxVnni = make_kernels<AvxVnni>(QuantizedFormats{}, FloatFormats{});

}  // namespace plait

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
