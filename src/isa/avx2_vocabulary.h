// What AVX2 and AVX-VNNI share: the vocabulary in pairs of 256-bit registers. Included only inside the region of an
// isa/ file.
#pragma once

namespace plait {

struct Avx2Vocabulary {
  static constexpr int kZero8 = 0;  // vpmaddubsw would saturate on unsigned codes of eight bits; signed ones are used.
  static constexpr int kDirectSums = 4;
  static constexpr int kDirectTokens = 4;
  static constexpr bool kCodesAlike = false;
  static constexpr int kPanelSums = 6;
  static constexpr int kFloatTokens = 4;
  static constexpr int kRecurTile = 4;  // Accumulators of sixteen lanes in a recurrence.

  struct F32x16 {
    __m256 lo, hi;
  };
  struct I32x16 {
    __m256i lo, hi;
  };
  struct U8x64 {
    __m256i lo, hi;
  };
  struct Mask {
    __m256 lo, hi;
  };
  struct Table {
    __m256i v;
  };

  [[gnu::always_inline]] static F32x16 set(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
  [[gnu::always_inline]] static F32x16 load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
  [[gnu::always_inline]] static F32x16 load_partial(const float* p, int n) {
    const Mask m = first(n);
    return {_mm256_maskload_ps(p, _mm256_castps_si256(m.lo)), _mm256_maskload_ps(p + 8, _mm256_castps_si256(m.hi))};
  }
  [[gnu::always_inline]] static void store(float* p, F32x16 a) {
    _mm256_storeu_ps(p, a.lo);
    _mm256_storeu_ps(p + 8, a.hi);
  }
  [[gnu::always_inline]] static void store_partial(float* p, F32x16 a, int n) {
    const Mask m = first(n);
    _mm256_maskstore_ps(p, _mm256_castps_si256(m.lo), a.lo);
    _mm256_maskstore_ps(p + 8, _mm256_castps_si256(m.hi), a.hi);
  }
  [[gnu::always_inline]] static F32x16 add(F32x16 a, F32x16 b) {
    return {_mm256_add_ps(a.lo, b.lo), _mm256_add_ps(a.hi, b.hi)};
  }
  [[gnu::always_inline]] static F32x16 sub(F32x16 a, F32x16 b) {
    return {_mm256_sub_ps(a.lo, b.lo), _mm256_sub_ps(a.hi, b.hi)};
  }
  [[gnu::always_inline]] static F32x16 mul(F32x16 a, F32x16 b) {
    return {_mm256_mul_ps(a.lo, b.lo), _mm256_mul_ps(a.hi, b.hi)};
  }
  [[gnu::always_inline]] static F32x16 div(F32x16 a, F32x16 b) {
    return {_mm256_div_ps(a.lo, b.lo), _mm256_div_ps(a.hi, b.hi)};
  }
  [[gnu::always_inline]] static F32x16 sqrt(F32x16 a) { return {_mm256_sqrt_ps(a.lo), _mm256_sqrt_ps(a.hi)}; }
  [[gnu::always_inline]] static F32x16 min(F32x16 a, F32x16 b) {
    return {_mm256_min_ps(a.lo, b.lo), _mm256_min_ps(a.hi, b.hi)};
  }
  [[gnu::always_inline]] static F32x16 max(F32x16 a, F32x16 b) {
    return {_mm256_max_ps(a.lo, b.lo), _mm256_max_ps(a.hi, b.hi)};
  }
  [[gnu::always_inline]] static F32x16 fma(F32x16 a, F32x16 b, F32x16 c) {
    return {_mm256_fmadd_ps(a.lo, b.lo, c.lo), _mm256_fmadd_ps(a.hi, b.hi, c.hi)};
  }
  [[gnu::always_inline]] static F32x16 fnma(F32x16 a, F32x16 b, F32x16 c) {
    return {_mm256_fnmadd_ps(a.lo, b.lo, c.lo), _mm256_fnmadd_ps(a.hi, b.hi, c.hi)};
  }
  [[gnu::always_inline]] static F32x16 abs(F32x16 a) { return from_bits(and_int(bits(a), 0x7fffffff)); }

  [[gnu::always_inline]] static Mask less(F32x16 a, F32x16 b) {
    return {_mm256_cmp_ps(a.lo, b.lo, _CMP_LT_OQ), _mm256_cmp_ps(a.hi, b.hi, _CMP_LT_OQ)};
  }
  [[gnu::always_inline]] static Mask unordered(F32x16 a) {
    return {_mm256_cmp_ps(a.lo, a.lo, _CMP_UNORD_Q), _mm256_cmp_ps(a.hi, a.hi, _CMP_UNORD_Q)};
  }
  [[gnu::always_inline]] static Mask first(int n) {
    const __m256i count = _mm256_set1_epi32(n), lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i upper = _mm256_add_epi32(lanes, _mm256_set1_epi32(8));
    return {_mm256_castsi256_ps(_mm256_cmpgt_epi32(count, lanes)),
            _mm256_castsi256_ps(_mm256_cmpgt_epi32(count, upper))};
  }
  [[gnu::always_inline]] static F32x16 select(Mask m, F32x16 a, F32x16 b) {
    return {_mm256_blendv_ps(b.lo, a.lo, m.lo), _mm256_blendv_ps(b.hi, a.hi, m.hi)};
  }

  [[gnu::always_inline]] static F32x16 half16(const void* p) {
    const auto* from = static_cast<const __m128i*>(p);
    return {_mm256_cvtph_ps(_mm_loadu_si128(from)), _mm256_cvtph_ps(_mm_loadu_si128(from + 1))};
  }
  [[gnu::always_inline]] static F32x16 bf16_16(const void* p) {
    const auto* from = static_cast<const __m128i*>(p);
    const I32x16 wide = {_mm256_cvtepu16_epi32(_mm_loadu_si128(from)),
                         _mm256_cvtepu16_epi32(_mm_loadu_si128(from + 1))};
    return from_bits(shift_left_int<16>(wide));
  }
  [[gnu::always_inline]] static F32x16 u8_16(const void* p) { return to_float(u8_int16(p)); }
  [[gnu::always_inline]] static F32x16 s8_16(const void* p) { return to_float(s8_int16(p)); }
  [[gnu::always_inline]] static void store_half16(void* p, F32x16 a) {
    auto* to = static_cast<__m128i*>(p);
    _mm_storeu_si128(to, _mm256_cvtps_ph(a.lo, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    _mm_storeu_si128(to + 1, _mm256_cvtps_ph(a.hi, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
  [[gnu::always_inline]] static __m256i bf16_bits(__m256 a) {
    const __m256i from = _mm256_castps_si256(a);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(from, 16), _mm256_set1_epi32(1));
    const __m256i rounded = _mm256_add_epi32(from, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    const __m256i quiet = _mm256_or_si256(from, _mm256_set1_epi32(0x400000));
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(a, a, _CMP_UNORD_Q));
    return _mm256_srli_epi32(_mm256_blendv_epi8(rounded, quiet, nan), 16);
  }
  [[gnu::always_inline]] static void store_bf16_16(void* p, F32x16 a) {
    const __m256i both = _mm256_packus_epi32(bf16_bits(a.lo), bf16_bits(a.hi));
    _mm256_storeu_si256(static_cast<__m256i*>(p), _mm256_permute4x64_epi64(both, 0xd8));
  }

  [[gnu::always_inline]] static float tree(F32x16 a) {
    const __m256 eight = _mm256_add_ps(a.lo, a.hi);
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
  }
  [[gnu::always_inline]] static F32x16 tree16(const F32x16* a) {
    alignas(32) float sums[16];
    for (int i = 0; i < 16; ++i) sums[i] = tree(a[i]);
    return load(sums);
  }
  [[gnu::always_inline]] static float max_across(F32x16 a) {
    const __m256 eight = _mm256_max_ps(a.lo, a.hi);
    const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
  }

  [[gnu::always_inline]] static I32x16 bits(F32x16 a) { return {_mm256_castps_si256(a.lo), _mm256_castps_si256(a.hi)}; }
  [[gnu::always_inline]] static F32x16 from_bits(I32x16 a) {
    return {_mm256_castsi256_ps(a.lo), _mm256_castsi256_ps(a.hi)};
  }
  [[gnu::always_inline]] static I32x16 round_to_int(F32x16 a) {
    return {_mm256_cvtps_epi32(a.lo), _mm256_cvtps_epi32(a.hi)};
  }
  [[gnu::always_inline]] static F32x16 to_float(I32x16 a) {
    return {_mm256_cvtepi32_ps(a.lo), _mm256_cvtepi32_ps(a.hi)};
  }
  [[gnu::always_inline]] static F32x16 scale_by_power(F32x16 p, I32x16 n) {
    return from_bits(add(bits(p), shift_left_int<23>(n)));
  }

  [[gnu::always_inline]] static I32x16 set_int(int x) { return {_mm256_set1_epi32(x), _mm256_set1_epi32(x)}; }
  [[gnu::always_inline]] static I32x16 load_int(const void* p) {
    const auto* from = static_cast<const __m256i*>(p);
    return {_mm256_loadu_si256(from), _mm256_loadu_si256(from + 1)};
  }
  [[gnu::always_inline]] static I32x16 add(I32x16 a, I32x16 b) {
    return {_mm256_add_epi32(a.lo, b.lo), _mm256_add_epi32(a.hi, b.hi)};
  }
  [[gnu::always_inline]] static I32x16 sub(I32x16 a, I32x16 b) {
    return {_mm256_sub_epi32(a.lo, b.lo), _mm256_sub_epi32(a.hi, b.hi)};
  }
  [[gnu::always_inline]] static I32x16 max_int(I32x16 a, I32x16 b) {
    return {_mm256_max_epi32(a.lo, b.lo), _mm256_max_epi32(a.hi, b.hi)};
  }
  [[gnu::always_inline]] static I32x16 and_int(I32x16 a, int mask) {
    const __m256i all = _mm256_set1_epi32(mask);
    return {_mm256_and_si256(a.lo, all), _mm256_and_si256(a.hi, all)};
  }
  [[gnu::always_inline]] static I32x16 or_int(I32x16 a, I32x16 b) {
    return {_mm256_or_si256(a.lo, b.lo), _mm256_or_si256(a.hi, b.hi)};
  }
  template <int kBits>
  [[gnu::always_inline]] static I32x16 shift_left_int(I32x16 a) {
    return {_mm256_slli_epi32(a.lo, kBits), _mm256_slli_epi32(a.hi, kBits)};
  }
  template <int kBits>
  [[gnu::always_inline]] static I32x16 shift_right_int(I32x16 a) {
    return {_mm256_srai_epi32(a.lo, kBits), _mm256_srai_epi32(a.hi, kBits)};
  }
  [[gnu::always_inline]] static I32x16 u8_int16(const void* p) {
    const auto* from = static_cast<const std::byte*>(p);
    return {_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))),
            _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from + 8)))};
  }
  [[gnu::always_inline]] static I32x16 s8_int16(const void* p) {
    const auto* from = static_cast<const std::byte*>(p);
    return {_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))),
            _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from + 8)))};
  }
  [[gnu::always_inline]] static std::int32_t max_across_int(I32x16 a) {
    const __m256i eight = _mm256_max_epi32(a.lo, a.hi);
    const __m128i four = _mm_max_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
    const __m128i two = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0x4e));
    return _mm_cvtsi128_si32(_mm_max_epi32(two, _mm_shuffle_epi32(two, 0xb1)));
  }
  [[gnu::always_inline]] static std::int32_t sum_across_int(I32x16 a) {
    const __m256i eight = _mm256_add_epi32(a.lo, a.hi);
    const __m128i four = _mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
    const __m128i two = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32(two, 0xb1)));
  }
  // The lanes fit in 8 bits.
  [[gnu::always_inline]] static void store_s8(void* p, I32x16 a) {
    const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(a.lo, a.hi), 0xd8);
    const __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    _mm_storeu_si128(static_cast<__m128i*>(p), bytes);
  }

  [[gnu::always_inline]] static U8x64 load_bytes(const void* p) {
    const auto* from = static_cast<const __m256i*>(p);
    return {_mm256_loadu_si256(from), _mm256_loadu_si256(from + 1)};
  }
  [[gnu::always_inline]] static void store_bytes(void* p, U8x64 a) {
    _mm256_storeu_si256(static_cast<__m256i*>(p), a.lo);
    _mm256_storeu_si256(static_cast<__m256i*>(p) + 1, a.hi);
  }
  [[gnu::always_inline]] static U8x64 and_bytes(U8x64 a, int mask) {
    const __m256i all = _mm256_set1_epi8(static_cast<char>(mask));
    return {_mm256_and_si256(a.lo, all), _mm256_and_si256(a.hi, all)};
  }
  [[gnu::always_inline]] static U8x64 or_bytes(U8x64 a, U8x64 b) {
    return {_mm256_or_si256(a.lo, b.lo), _mm256_or_si256(a.hi, b.hi)};
  }
  template <int kBits>
  [[gnu::always_inline]] static U8x64 shift_left16(U8x64 a) {
    return {_mm256_slli_epi16(a.lo, kBits), _mm256_slli_epi16(a.hi, kBits)};
  }
  template <int kBits>
  [[gnu::always_inline]] static U8x64 shift_right16(U8x64 a) {
    return {_mm256_srli_epi16(a.lo, kBits), _mm256_srli_epi16(a.hi, kBits)};
  }
  [[gnu::always_inline]] static Table table16(const void* p) {
    return {_mm256_broadcastsi128_si256(_mm_loadu_si128(static_cast<const __m128i*>(p)))};
  }
  [[gnu::always_inline]] static U8x64 lookup(Table t, U8x64 a) {
    return {_mm256_shuffle_epi8(t.v, a.lo), _mm256_shuffle_epi8(t.v, a.hi)};
  }
  [[gnu::always_inline]] static U8x64 bytes8(U8x64 a) {
    const __m256i sign = _mm256_set1_epi8(static_cast<char>(0x80));
    return {_mm256_xor_si256(a.lo, sign), _mm256_xor_si256(a.hi, sign)};
  }

  // Dwords whose products may be added in 16 bits: sums of pairs are at most 2 * 127 * kMaxCode each.
  template <int kMaxCode>
  static constexpr int kSpan = kMaxCode <= 15   ? 8
                               : kMaxCode <= 31 ? 4
                               : kMaxCode <= 63 ? 2
                                                : 1;

  template <int kMaxCode>
  struct Dot {
    I32x16 sum, part;  // `part` in 16 bits, not yet in `sum`.
  };
  template <int kMaxCode>
  [[gnu::always_inline]] static Dot<kMaxCode> dot_begin(I32x16 start) {
    return {start, start};
  }
  template <int kMaxCode>
  [[gnu::always_inline]] static void dot_step(Dot<kMaxCode>& d, U8x64 w, const void* x, int i, int count) {
    std::int32_t four;
    std::memcpy(&four, x, 4);
    const __m256i q = _mm256_set1_epi32(four);
    I32x16 products;
    if constexpr (kMaxCode == 255) {
      products = {_mm256_maddubs_epi16(_mm256_abs_epi8(w.lo), _mm256_sign_epi8(q, w.lo)),
                  _mm256_maddubs_epi16(_mm256_abs_epi8(w.hi), _mm256_sign_epi8(q, w.hi))};
    } else {
      products = {_mm256_maddubs_epi16(w.lo, q), _mm256_maddubs_epi16(w.hi, q)};
    }
    if (i % kSpan<kMaxCode> == 0) {
      d.part = products;
    } else {
      d.part = {_mm256_add_epi16(d.part.lo, products.lo), _mm256_add_epi16(d.part.hi, products.hi)};
    }
    if (i % kSpan<kMaxCode> == kSpan<kMaxCode> - 1 || i == count - 1) {
      const __m256i ones = _mm256_set1_epi16(1);
      d.sum = add(d.sum, {_mm256_madd_epi16(d.part.lo, ones), _mm256_madd_epi16(d.part.hi, ones)});
    }
  }
  template <int kMaxCode>
  [[gnu::always_inline]] static I32x16 dot_end(const Dot<kMaxCode>& d) {
    return d.sum;
  }
};

}  // namespace plait
