// The vocabulary in NEON: sixteen lanes are four 128-bit registers. Included only inside the region of an isa/ file.
#pragma once

namespace plait {

struct Neon {
  static constexpr std::string_view kName = "neon";
  static constexpr int kZero8 = 0;  // sdot takes signed codes.
  // Sums of sixteen lanes that stay in 32 registers. Not measured.
  static constexpr int kDirectSums = 4;
  static constexpr int kDirectTokens = 4;
  static constexpr bool kCodesAlike = true;
  static constexpr int kPanelSums = 6;
  static constexpr int kFloatTokens = 4;
  static constexpr int kRecurTile = 4;  // Accumulators of sixteen lanes in a recurrence.

  struct F32x16 {
    float32x4_t v[4];
  };
  struct I32x16 {
    int32x4_t v[4];
  };
  struct U8x64 {
    uint8x16_t v[4];
  };
  struct Mask {
    uint32x4_t v[4];
  };
  struct Table {
    uint8x16_t v;
  };
  template <int kMaxCode>
  using Dot = I32x16;

  // Makes each register.
  template <class Out = F32x16, class Op>
  [[gnu::always_inline]] static Out each(Op f) {
    return {f(0), f(1), f(2), f(3)};
  }
  [[gnu::always_inline]] static const std::uint8_t* bytes_at(const void* p, int offset) {
    return static_cast<const std::uint8_t*>(p) + offset;
  }

  [[gnu::always_inline]] static F32x16 set(float x) {
    return each([=](int) { return vdupq_n_f32(x); });
  }
  [[gnu::always_inline]] static F32x16 load(const float* p) {
    return each([=](int i) { return vld1q_f32(p + 4 * i); });
  }
  [[gnu::always_inline]] static F32x16 load_partial(const float* p, int n) {
    float lanes[16] = {};
    for (int i = 0; i < 16 && i < n; ++i) lanes[i] = p[i];
    return load(lanes);
  }
  [[gnu::always_inline]] static void store(float* p, F32x16 a) {
    for (int i = 0; i < 4; ++i) vst1q_f32(p + 4 * i, a.v[i]);
  }
  [[gnu::always_inline]] static void store_partial(float* p, F32x16 a, int n) {
    float lanes[16];
    store(lanes, a);
    for (int i = 0; i < 16 && i < n; ++i) p[i] = lanes[i];
  }
  [[gnu::always_inline]] static F32x16 add(F32x16 a, F32x16 b) {
    return each([&](int i) { return vaddq_f32(a.v[i], b.v[i]); });
  }
  [[gnu::always_inline]] static F32x16 sub(F32x16 a, F32x16 b) {
    return each([&](int i) { return vsubq_f32(a.v[i], b.v[i]); });
  }
  [[gnu::always_inline]] static F32x16 mul(F32x16 a, F32x16 b) {
    return each([&](int i) { return vmulq_f32(a.v[i], b.v[i]); });
  }
  [[gnu::always_inline]] static F32x16 div(F32x16 a, F32x16 b) {
    return each([&](int i) { return vdivq_f32(a.v[i], b.v[i]); });
  }
  [[gnu::always_inline]] static F32x16 sqrt(F32x16 a) {
    return each([&](int i) { return vsqrtq_f32(a.v[i]); });
  }
  [[gnu::always_inline]] static F32x16 abs(F32x16 a) {
    return each([&](int i) { return vabsq_f32(a.v[i]); });
  }
  // Not fmin and fmax, which differ for NaN and for zeros of two signs.
  [[gnu::always_inline]] static F32x16 min(F32x16 a, F32x16 b) { return select(less(a, b), a, b); }
  [[gnu::always_inline]] static F32x16 max(F32x16 a, F32x16 b) { return select(less(b, a), a, b); }
  [[gnu::always_inline]] static F32x16 fma(F32x16 a, F32x16 b, F32x16 c) {
    return each([&](int i) { return vfmaq_f32(c.v[i], a.v[i], b.v[i]); });
  }
  [[gnu::always_inline]] static F32x16 fnma(F32x16 a, F32x16 b, F32x16 c) {
    return each([&](int i) { return vfmsq_f32(c.v[i], a.v[i], b.v[i]); });
  }

  [[gnu::always_inline]] static Mask less(F32x16 a, F32x16 b) {
    return each<Mask>([&](int i) { return vcltq_f32(a.v[i], b.v[i]); });
  }
  [[gnu::always_inline]] static Mask unordered(F32x16 a) {
    return each<Mask>([&](int i) { return vmvnq_u32(vceqq_f32(a.v[i], a.v[i])); });
  }
  [[gnu::always_inline]] static Mask first(int n) {
    const int32x4_t lanes = {0, 1, 2, 3};
    return each<Mask>([&](int i) { return vcltq_s32(vaddq_s32(lanes, vdupq_n_s32(4 * i)), vdupq_n_s32(n)); });
  }
  [[gnu::always_inline]] static F32x16 select(Mask m, F32x16 a, F32x16 b) {
    return each([&](int i) { return vbslq_f32(m.v[i], a.v[i], b.v[i]); });
  }

  [[gnu::always_inline]] static F32x16 half16(const void* p) {
    return each([=](int i) { return vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(bytes_at(p, 8 * i)))); });
  }
  [[gnu::always_inline]] static F32x16 bf16_16(const void* p) {
    return each([=](int i) {
      return vreinterpretq_f32_u32(vshll_n_u16(vreinterpret_u16_u8(vld1_u8(bytes_at(p, 8 * i))), 16));
    });
  }
  [[gnu::always_inline]] static F32x16 u8_16(const void* p) { return to_float(u8_int16(p)); }
  [[gnu::always_inline]] static F32x16 s8_16(const void* p) { return to_float(s8_int16(p)); }
  [[gnu::always_inline]] static void store_half16(void* p, F32x16 a) {
    for (int i = 0; i < 4; ++i) {
      vst1_u8(static_cast<std::uint8_t*>(p) + 8 * i, vreinterpret_u8_f16(vcvt_f16_f32(a.v[i])));
    }
  }
  [[gnu::always_inline]] static uint16x4_t bf16_bits(float32x4_t a) {
    const uint32x4_t from = vreinterpretq_u32_f32(a);
    const uint32x4_t odd = vandq_u32(vshrq_n_u32(from, 16), vdupq_n_u32(1));
    const uint32x4_t rounded = vaddq_u32(from, vaddq_u32(odd, vdupq_n_u32(0x7fff)));
    const uint32x4_t quiet = vorrq_u32(from, vdupq_n_u32(0x400000));
    return vshrn_n_u32(vbslq_u32(vceqq_f32(a, a), rounded, quiet), 16);
  }
  [[gnu::always_inline]] static void store_bf16_16(void* p, F32x16 a) {
    for (int i = 0; i < 4; ++i) {
      vst1_u8(static_cast<std::uint8_t*>(p) + 8 * i, vreinterpret_u8_u16(bf16_bits(a.v[i])));
    }
  }

  [[gnu::always_inline]] static float tree(F32x16 a) {
    const float32x4_t four = vaddq_f32(vaddq_f32(a.v[0], a.v[2]), vaddq_f32(a.v[1], a.v[3]));
    const float32x2_t two = vadd_f32(vget_low_f32(four), vget_high_f32(four));
    return vget_lane_f32(two, 0) + vget_lane_f32(two, 1);
  }
  [[gnu::always_inline]] static F32x16 tree16(const F32x16* a) {
    float sums[16];
    for (int i = 0; i < 16; ++i) sums[i] = tree(a[i]);
    return load(sums);
  }
  // A NaN may be lost, as on the others.
  [[gnu::always_inline]] static float max_across(F32x16 a) {
    return vmaxnmvq_f32(vmaxnmq_f32(vmaxnmq_f32(a.v[0], a.v[1]), vmaxnmq_f32(a.v[2], a.v[3])));
  }

  [[gnu::always_inline]] static I32x16 bits(F32x16 a) {
    return each<I32x16>([&](int i) { return vreinterpretq_s32_f32(a.v[i]); });
  }
  [[gnu::always_inline]] static F32x16 from_bits(I32x16 a) {
    return each([&](int i) { return vreinterpretq_f32_s32(a.v[i]); });
  }
  [[gnu::always_inline]] static I32x16 round_to_int(F32x16 a) {
    return each<I32x16>([&](int i) { return vcvtnq_s32_f32(a.v[i]); });
  }
  [[gnu::always_inline]] static F32x16 to_float(I32x16 a) {
    return each([&](int i) { return vcvtq_f32_s32(a.v[i]); });
  }
  [[gnu::always_inline]] static F32x16 scale_by_power(F32x16 p, I32x16 n) {
    return from_bits(add(bits(p), shift_left_int<23>(n)));
  }

  [[gnu::always_inline]] static I32x16 set_int(int x) {
    return each<I32x16>([=](int) { return vdupq_n_s32(x); });
  }
  [[gnu::always_inline]] static I32x16 load_int(const void* p) {
    return each<I32x16>([=](int i) { return vreinterpretq_s32_u8(vld1q_u8(bytes_at(p, 16 * i))); });
  }
  [[gnu::always_inline]] static I32x16 add(I32x16 a, I32x16 b) {
    return each<I32x16>([&](int i) { return vaddq_s32(a.v[i], b.v[i]); });
  }
  [[gnu::always_inline]] static I32x16 sub(I32x16 a, I32x16 b) {
    return each<I32x16>([&](int i) { return vsubq_s32(a.v[i], b.v[i]); });
  }
  [[gnu::always_inline]] static I32x16 max_int(I32x16 a, I32x16 b) {
    return each<I32x16>([&](int i) { return vmaxq_s32(a.v[i], b.v[i]); });
  }
  [[gnu::always_inline]] static I32x16 and_int(I32x16 a, int mask) {
    return each<I32x16>([&](int i) { return vandq_s32(a.v[i], vdupq_n_s32(mask)); });
  }
  [[gnu::always_inline]] static I32x16 or_int(I32x16 a, I32x16 b) {
    return each<I32x16>([&](int i) { return vorrq_s32(a.v[i], b.v[i]); });
  }
  template <int kBits>
  [[gnu::always_inline]] static I32x16 shift_left_int(I32x16 a) {
    return each<I32x16>([&](int i) { return vshlq_n_s32(a.v[i], kBits); });
  }
  template <int kBits>
  [[gnu::always_inline]] static I32x16 shift_right_int(I32x16 a) {
    return each<I32x16>([&](int i) { return vshrq_n_s32(a.v[i], kBits); });
  }
  [[gnu::always_inline]] static I32x16 u8_int16(const void* p) {
    const uint8x16_t from = vld1q_u8(bytes_at(p, 0));
    const uint16x8_t low = vmovl_u8(vget_low_u8(from)), high = vmovl_u8(vget_high_u8(from));
    return {vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(low))), vreinterpretq_s32_u32(vmovl_u16(vget_high_u16(low))),
            vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(high))),
            vreinterpretq_s32_u32(vmovl_u16(vget_high_u16(high)))};
  }
  [[gnu::always_inline]] static I32x16 s8_int16(const void* p) {
    const int8x16_t from = vreinterpretq_s8_u8(vld1q_u8(bytes_at(p, 0)));
    const int16x8_t low = vmovl_s8(vget_low_s8(from)), high = vmovl_s8(vget_high_s8(from));
    return {vmovl_s16(vget_low_s16(low)), vmovl_s16(vget_high_s16(low)), vmovl_s16(vget_low_s16(high)),
            vmovl_s16(vget_high_s16(high))};
  }
  [[gnu::always_inline]] static std::int32_t max_across_int(I32x16 a) {
    return vmaxvq_s32(vmaxq_s32(vmaxq_s32(a.v[0], a.v[1]), vmaxq_s32(a.v[2], a.v[3])));
  }
  [[gnu::always_inline]] static std::int32_t sum_across_int(I32x16 a) {
    return vaddvq_s32(vaddq_s32(vaddq_s32(a.v[0], a.v[1]), vaddq_s32(a.v[2], a.v[3])));
  }
  [[gnu::always_inline]] static void store_s8(void* p, I32x16 a) {
    const int16x8_t low = vcombine_s16(vmovn_s32(a.v[0]), vmovn_s32(a.v[1]));
    const int16x8_t high = vcombine_s16(vmovn_s32(a.v[2]), vmovn_s32(a.v[3]));
    vst1q_s8(static_cast<std::int8_t*>(p), vcombine_s8(vmovn_s16(low), vmovn_s16(high)));
  }

  [[gnu::always_inline]] static U8x64 load_bytes(const void* p) {
    return each<U8x64>([=](int i) { return vld1q_u8(bytes_at(p, 16 * i)); });
  }
  [[gnu::always_inline]] static void store_bytes(void* p, U8x64 a) {
    for (int i = 0; i < 4; ++i) vst1q_u8(static_cast<std::uint8_t*>(p) + 16 * i, a.v[i]);
  }
  [[gnu::always_inline]] static U8x64 and_bytes(U8x64 a, int mask) {
    return each<U8x64>([&](int i) { return vandq_u8(a.v[i], vdupq_n_u8(static_cast<std::uint8_t>(mask))); });
  }
  [[gnu::always_inline]] static U8x64 or_bytes(U8x64 a, U8x64 b) {
    return each<U8x64>([&](int i) { return vorrq_u8(a.v[i], b.v[i]); });
  }
  template <int kBits>
  [[gnu::always_inline]] static U8x64 shift_left16(U8x64 a) {
    return each<U8x64>([&](int i) { return vreinterpretq_u8_u16(vshlq_n_u16(vreinterpretq_u16_u8(a.v[i]), kBits)); });
  }
  template <int kBits>
  [[gnu::always_inline]] static U8x64 shift_right16(U8x64 a) {
    return each<U8x64>([&](int i) { return vreinterpretq_u8_u16(vshrq_n_u16(vreinterpretq_u16_u8(a.v[i]), kBits)); });
  }
  [[gnu::always_inline]] static Table table16(const void* p) { return {vld1q_u8(bytes_at(p, 0))}; }
  [[gnu::always_inline]] static U8x64 lookup(Table t, U8x64 a) {
    return each<U8x64>([&](int i) { return vqtbl1q_u8(t.v, a.v[i]); });
  }
  [[gnu::always_inline]] static U8x64 bytes8(U8x64 a) {
    return each<U8x64>([&](int i) { return veorq_u8(a.v[i], vdupq_n_u8(0x80)); });
  }

  template <int kMaxCode>
  [[gnu::always_inline]] static I32x16 dot_begin(I32x16 start) {
    return start;
  }
  // Codes up to 127 are the same bytes with a sign as without.
  template <int kMaxCode>
  [[gnu::always_inline]] static void dot_step(I32x16& d, U8x64 w, const void* x, int /*i*/, int /*count*/) {
    std::int32_t four;
    std::memcpy(&four, x, 4);
    const int8x16_t q = vreinterpretq_s8_s32(vdupq_n_s32(four));
    d = each<I32x16>([&](int i) { return vdotq_s32(d.v[i], vreinterpretq_s8_u8(w.v[i]), q); });
  }
  template <int kMaxCode>
  [[gnu::always_inline]] static I32x16 dot_end(I32x16 d) {
    return d;
  }
};

}  // namespace plait
