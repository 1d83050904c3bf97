// x86-64 with AVX-512 (F, BW, VL, DQ) and VNNI. This file is longer than most: the vocabulary in one place.
#if defined(__x86_64__)

#include <immintrin.h>

#include "isa/before_region.h"

// g++ 12 warns in its own avx512fintrin.h.
#pragma GCC diagnostic ignored "-Wuninitialized"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma,f16c"))), \
                                 apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma,f16c")
#endif

#include "kernels/table.h"

namespace plait {

struct Avx512 {
  static constexpr std::string_view kName = "avx512";
  static constexpr int kZero8 = 128;
  static constexpr int kDirectSums = 12;     // Sums of sixteen outputs that the direct kernel holds at once.
  static constexpr int kDirectTokens = 6;    // Tokens, at most; over 4, one less for two scales.
  static constexpr bool kCodesAlike = true;  // Codes of any size are multiplied alike.
  static constexpr int kPanelSums = 12;      // As kDirectSums, in panels; less than 6: no panels.
  static constexpr int kFloatTokens = 8;     // The same for float weights.
  static constexpr int kRecurTile = 16;      // Accumulators of sixteen lanes in a recurrence.

  struct F32x16 {
    __m512 v;
  };
  struct I32x16 {
    __m512i v;
  };
  struct U8x64 {
    __m512i v;
  };
  struct Mask {
    __mmask16 v;
  };
  struct Table {
    __m512i v;
  };
  template <int kMaxCode>
  using Dot = I32x16;

  [[gnu::always_inline]] static F32x16 set(float x) { return {_mm512_set1_ps(x)}; }
  [[gnu::always_inline]] static F32x16 load(const float* p) { return {_mm512_loadu_ps(p)}; }
  [[gnu::always_inline]] static F32x16 load_partial(const float* p, int n) {
    return {_mm512_maskz_loadu_ps(first(n).v, p)};
  }
  [[gnu::always_inline]] static void store(float* p, F32x16 a) { _mm512_storeu_ps(p, a.v); }
  [[gnu::always_inline]] static void store_partial(float* p, F32x16 a, int n) {
    _mm512_mask_storeu_ps(p, first(n).v, a.v);
  }
  [[gnu::always_inline]] static F32x16 add(F32x16 a, F32x16 b) { return {_mm512_add_ps(a.v, b.v)}; }
  [[gnu::always_inline]] static F32x16 sub(F32x16 a, F32x16 b) { return {_mm512_sub_ps(a.v, b.v)}; }
  [[gnu::always_inline]] static F32x16 mul(F32x16 a, F32x16 b) { return {_mm512_mul_ps(a.v, b.v)}; }
  [[gnu::always_inline]] static F32x16 div(F32x16 a, F32x16 b) { return {_mm512_div_ps(a.v, b.v)}; }
  [[gnu::always_inline]] static F32x16 sqrt(F32x16 a) { return {_mm512_sqrt_ps(a.v)}; }
  [[gnu::always_inline]] static F32x16 abs(F32x16 a) { return from_bits(and_int(bits(a), 0x7fffffff)); }
  [[gnu::always_inline]] static F32x16 min(F32x16 a, F32x16 b) { return {_mm512_min_ps(a.v, b.v)}; }
  [[gnu::always_inline]] static F32x16 max(F32x16 a, F32x16 b) { return {_mm512_max_ps(a.v, b.v)}; }
  [[gnu::always_inline]] static F32x16 fma(F32x16 a, F32x16 b, F32x16 c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
  [[gnu::always_inline]] static F32x16 fnma(F32x16 a, F32x16 b, F32x16 c) { return {_mm512_fnmadd_ps(a.v, b.v, c.v)}; }

  [[gnu::always_inline]] static Mask less(F32x16 a, F32x16 b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ)}; }
  [[gnu::always_inline]] static Mask unordered(F32x16 a) { return {_mm512_cmp_ps_mask(a.v, a.v, _CMP_UNORD_Q)}; }
  [[gnu::always_inline]] static Mask first(int n) {
    return {static_cast<__mmask16>(n >= 16 ? 0xffffu : (1u << n) - 1)};
  }
  [[gnu::always_inline]] static F32x16 select(Mask m, F32x16 a, F32x16 b) {
    return {_mm512_mask_blend_ps(m.v, b.v, a.v)};
  }

  [[gnu::always_inline]] static F32x16 half16(const void* p) {
    return {_mm512_cvtph_ps(_mm256_loadu_si256(static_cast<const __m256i*>(p)))};
  }
  [[gnu::always_inline]] static F32x16 bf16_16(const void* p) {
    const __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256(static_cast<const __m256i*>(p)));
    return {_mm512_castsi512_ps(_mm512_slli_epi32(wide, 16))};
  }
  [[gnu::always_inline]] static F32x16 u8_16(const void* p) { return to_float(u8_int16(p)); }
  [[gnu::always_inline]] static F32x16 s8_16(const void* p) { return to_float(s8_int16(p)); }
  [[gnu::always_inline]] static void store_half16(void* p, F32x16 a) {
    const __m256i narrow = _mm512_cvtps_ph(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm256_storeu_si256(static_cast<__m256i*>(p), narrow);
  }
  [[gnu::always_inline]] static void store_bf16_16(void* p, F32x16 a) {
    const __m512i from = _mm512_castps_si512(a.v);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(from, 16), _mm512_set1_epi32(1));
    const __m512i rounded = _mm512_add_epi32(from, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    const __m512i quiet = _mm512_or_si512(from, _mm512_set1_epi32(0x400000));
    const __m512i kept = _mm512_mask_blend_epi32(unordered(a).v, rounded, quiet);
    _mm256_storeu_si256(static_cast<__m256i*>(p), _mm512_cvtepi32_epi16(_mm512_srli_epi32(kept, 16)));
  }

  [[gnu::always_inline]] static float tree(F32x16 a) {
    const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(a.v), _mm512_extractf32x8_ps(a.v, 1));
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
  }
  // Two trees at a time, from halves on: the upper half of a register is folded onto the lower one, as in tree().
  [[gnu::always_inline]] static __m512 fold8(__m512 a, __m512 b) {
    return _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x44), _mm512_shuffle_f32x4(a, b, 0xee));
  }
  [[gnu::always_inline]] static __m512 fold4(__m512 a, __m512 b) {
    return _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xdd));
  }
  [[gnu::always_inline]] static __m512 four_trees(const F32x16* a) {  // a[0], a[4], a[8], a[12]: a lane of four each.
    return fold4(fold8(a[0].v, a[4].v), fold8(a[8].v, a[12].v));
  }
  [[gnu::always_inline]] static __m512 fold2(__m512 a, __m512 b) {
    return _mm512_add_ps(_mm512_shuffle_ps(a, b, 0x44), _mm512_shuffle_ps(a, b, 0xee));
  }
  [[gnu::always_inline]] static F32x16 tree16(const F32x16* a) {
    const __m512 even = fold2(four_trees(a), four_trees(a + 1)), odd = fold2(four_trees(a + 2), four_trees(a + 3));
    return {_mm512_add_ps(_mm512_shuffle_ps(even, odd, 0x88), _mm512_shuffle_ps(even, odd, 0xdd))};
  }
  [[gnu::always_inline]] static float max_across(F32x16 a) { return _mm512_reduce_max_ps(a.v); }

  [[gnu::always_inline]] static I32x16 bits(F32x16 a) { return {_mm512_castps_si512(a.v)}; }
  [[gnu::always_inline]] static F32x16 from_bits(I32x16 a) { return {_mm512_castsi512_ps(a.v)}; }
  [[gnu::always_inline]] static I32x16 round_to_int(F32x16 a) {
    return {_mm512_cvt_roundps_epi32(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
  }
  [[gnu::always_inline]] static F32x16 to_float(I32x16 a) { return {_mm512_cvtepi32_ps(a.v)}; }
  [[gnu::always_inline]] static F32x16 scale_by_power(F32x16 p, I32x16 n) {
    return from_bits(add(bits(p), shift_left_int<23>(n)));
  }

  [[gnu::always_inline]] static I32x16 set_int(int x) { return {_mm512_set1_epi32(x)}; }
  [[gnu::always_inline]] static I32x16 load_int(const void* p) { return {_mm512_loadu_si512(p)}; }
  [[gnu::always_inline]] static I32x16 add(I32x16 a, I32x16 b) { return {_mm512_add_epi32(a.v, b.v)}; }
  [[gnu::always_inline]] static I32x16 sub(I32x16 a, I32x16 b) { return {_mm512_sub_epi32(a.v, b.v)}; }
  [[gnu::always_inline]] static I32x16 max_int(I32x16 a, I32x16 b) { return {_mm512_max_epi32(a.v, b.v)}; }
  [[gnu::always_inline]] static I32x16 and_int(I32x16 a, int mask) {
    return {_mm512_and_si512(a.v, _mm512_set1_epi32(mask))};
  }
  [[gnu::always_inline]] static I32x16 or_int(I32x16 a, I32x16 b) { return {_mm512_or_si512(a.v, b.v)}; }
  template <int kBits>
  [[gnu::always_inline]] static I32x16 shift_left_int(I32x16 a) {
    return {_mm512_slli_epi32(a.v, kBits)};
  }
  template <int kBits>
  [[gnu::always_inline]] static I32x16 shift_right_int(I32x16 a) {
    return {_mm512_srai_epi32(a.v, kBits)};
  }
  [[gnu::always_inline]] static I32x16 u8_int16(const void* p) {
    return {_mm512_cvtepu8_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p)))};
  }
  [[gnu::always_inline]] static I32x16 s8_int16(const void* p) {
    return {_mm512_cvtepi8_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p)))};
  }
  [[gnu::always_inline]] static std::int32_t max_across_int(I32x16 a) { return _mm512_reduce_max_epi32(a.v); }
  [[gnu::always_inline]] static std::int32_t sum_across_int(I32x16 a) { return _mm512_reduce_add_epi32(a.v); }
  [[gnu::always_inline]] static void store_s8(void* p, I32x16 a) {
    _mm_storeu_si128(static_cast<__m128i*>(p), _mm512_cvtepi32_epi8(a.v));
  }

  [[gnu::always_inline]] static U8x64 load_bytes(const void* p) { return {_mm512_loadu_si512(p)}; }
  [[gnu::always_inline]] static void store_bytes(void* p, U8x64 a) { _mm512_storeu_si512(p, a.v); }
  [[gnu::always_inline]] static U8x64 and_bytes(U8x64 a, int mask) {
    return {_mm512_and_si512(a.v, _mm512_set1_epi8(static_cast<char>(mask)))};
  }
  [[gnu::always_inline]] static U8x64 or_bytes(U8x64 a, U8x64 b) { return {_mm512_or_si512(a.v, b.v)}; }
  template <int kBits>
  [[gnu::always_inline]] static U8x64 shift_left16(U8x64 a) {
    return {_mm512_slli_epi16(a.v, kBits)};
  }
  template <int kBits>
  [[gnu::always_inline]] static U8x64 shift_right16(U8x64 a) {
    return {_mm512_srli_epi16(a.v, kBits)};
  }
  [[gnu::always_inline]] static Table table16(const void* p) {
    return {_mm512_broadcast_i32x4(_mm_loadu_si128(static_cast<const __m128i*>(p)))};
  }
  [[gnu::always_inline]] static U8x64 lookup(Table t, U8x64 a) { return {_mm512_shuffle_epi8(t.v, a.v)}; }
  [[gnu::always_inline]] static U8x64 bytes8(U8x64 a) { return a; }

  template <int kMaxCode>
  [[gnu::always_inline]] static I32x16 dot_begin(I32x16 start) {
    return start;
  }
  template <int kMaxCode>
  [[gnu::always_inline]] static void dot_step(I32x16& d, U8x64 w, const void* x, int /*i*/, int /*count*/) {
    std::int32_t four;
    std::memcpy(&four, x, 4);
    d.v = _mm512_dpbusd_epi32(d.v, w.v, _mm512_set1_epi32(four));
  }
  template <int kMaxCode>
  [[gnu::always_inline]] static I32x16 dot_end(I32x16 d) {
    return d;
  }
};

static_assert(Vocabulary<Avx512>);

extern const Kernels kAvx512;
constinit const Kernels kAvx512 = make_kernels<Avx512>(QuantizedFormats{}, FloatFormats{});

}  // namespace plait

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
