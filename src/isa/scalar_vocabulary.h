// The vocabulary in plain C++: the meaning of every operation, for any machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/half.h"

namespace plait {

struct Scalar {
  static constexpr std::string_view kName = "scalar";
  static constexpr int kZero8 = 128;
  static constexpr int kDirectSums = 1;
  static constexpr int kDirectTokens = 1;
  static constexpr bool kCodesAlike = true;
  static constexpr int kPanelSums = 0;
  static constexpr int kFloatTokens = 1;
  static constexpr int kRecurTile = 2;  // Accumulators of sixteen lanes in a recurrence.

  struct F32x16 {
    float v[16];
  };
  struct I32x16 {
    std::int32_t v[16];
  };
  struct U8x64 {
    std::uint8_t v[64];
  };
  struct Mask {
    bool v[16];
  };
  struct Table {
    std::uint8_t v[16];
  };
  template <int kMaxCode>
  using Dot = I32x16;

  // Applies `f` to each lane.
  template <class Out = F32x16, class Op>
  [[gnu::always_inline]] static Out each(Op f) {
    Out out;
    for (int i = 0; i < 16; ++i) out.v[i] = f(i);
    return out;
  }
  [[gnu::always_inline]] static std::uint16_t u16(const void* p, int i) {
    std::uint16_t value;
    std::memcpy(&value, static_cast<const std::byte*>(p) + 2 * i, 2);
    return value;
  }

  [[gnu::always_inline]] static F32x16 set(float x) {
    return each([=](int) { return x; });
  }
  [[gnu::always_inline]] static F32x16 load(const float* p) {
    return each([=](int i) { return p[i]; });
  }
  [[gnu::always_inline]] static F32x16 load_partial(const float* p, int n) {
    return each([=](int i) { return i < n ? p[i] : 0.0f; });
  }
  [[gnu::always_inline]] static void store(float* p, F32x16 a) { std::memcpy(p, a.v, sizeof a.v); }
  [[gnu::always_inline]] static void store_partial(float* p, F32x16 a, int n) {
    for (int i = 0; i < 16 && i < n; ++i) p[i] = a.v[i];
  }
  [[gnu::always_inline]] static F32x16 add(F32x16 a, F32x16 b) {
    return each([&](int i) { return a.v[i] + b.v[i]; });
  }
  [[gnu::always_inline]] static F32x16 sub(F32x16 a, F32x16 b) {
    return each([&](int i) { return a.v[i] - b.v[i]; });
  }
  [[gnu::always_inline]] static F32x16 mul(F32x16 a, F32x16 b) {
    return each([&](int i) { return a.v[i] * b.v[i]; });
  }
  [[gnu::always_inline]] static F32x16 div(F32x16 a, F32x16 b) {
    return each([&](int i) { return a.v[i] / b.v[i]; });
  }
  [[gnu::always_inline]] static F32x16 sqrt(F32x16 a) {
    return each([&](int i) { return __builtin_sqrtf(a.v[i]); });
  }
  [[gnu::always_inline]] static F32x16 abs(F32x16 a) { return from_bits(and_int(bits(a), 0x7fffffff)); }
  [[gnu::always_inline]] static F32x16 min(F32x16 a, F32x16 b) {
    return each([&](int i) { return a.v[i] < b.v[i] ? a.v[i] : b.v[i]; });
  }
  [[gnu::always_inline]] static F32x16 max(F32x16 a, F32x16 b) {
    return each([&](int i) { return a.v[i] > b.v[i] ? a.v[i] : b.v[i]; });
  }
  [[gnu::always_inline]] static F32x16 fma(F32x16 a, F32x16 b, F32x16 c) {
    return each([&](int i) { return __builtin_fmaf(a.v[i], b.v[i], c.v[i]); });
  }
  [[gnu::always_inline]] static F32x16 fnma(F32x16 a, F32x16 b, F32x16 c) {
    return each([&](int i) { return __builtin_fmaf(-a.v[i], b.v[i], c.v[i]); });
  }

  [[gnu::always_inline]] static Mask less(F32x16 a, F32x16 b) {
    return each<Mask>([&](int i) { return a.v[i] < b.v[i]; });
  }
  [[gnu::always_inline]] static Mask unordered(F32x16 a) {
    return each<Mask>([&](int i) { return a.v[i] != a.v[i]; });
  }
  [[gnu::always_inline]] static Mask first(int n) {
    return each<Mask>([=](int i) { return i < n; });
  }
  [[gnu::always_inline]] static F32x16 select(Mask m, F32x16 a, F32x16 b) {
    return each([&](int i) { return m.v[i] ? a.v[i] : b.v[i]; });
  }

  [[gnu::always_inline]] static F32x16 half16(const void* p) {
    return each([=](int i) { return f16_to_float(u16(p, i)); });
  }
  [[gnu::always_inline]] static F32x16 bf16_16(const void* p) {
    return each([=](int i) { return bf16_to_float(u16(p, i)); });
  }
  [[gnu::always_inline]] static F32x16 u8_16(const void* p) { return to_float(u8_int16(p)); }
  [[gnu::always_inline]] static F32x16 s8_16(const void* p) { return to_float(s8_int16(p)); }
  [[gnu::always_inline]] static void store_half16(void* p, F32x16 a) {
    for (int i = 0; i < 16; ++i) {
      const std::uint16_t narrow = float_to_f16(a.v[i]);
      std::memcpy(static_cast<std::byte*>(p) + 2 * i, &narrow, 2);
    }
  }
  [[gnu::always_inline]] static void store_bf16_16(void* p, F32x16 a) {
    for (int i = 0; i < 16; ++i) {
      const std::uint16_t narrow = float_to_bf16(a.v[i]);
      std::memcpy(static_cast<std::byte*>(p) + 2 * i, &narrow, 2);
    }
  }

  [[gnu::always_inline]] static float tree(F32x16 a) {
    for (int step = 8; step > 0; step /= 2) {
      for (int i = 0; i < step; ++i) a.v[i] += a.v[i + step];
    }
    return a.v[0];
  }
  [[gnu::always_inline]] static F32x16 tree16(const F32x16* a) {
    return each([=](int i) { return tree(a[i]); });
  }
  [[gnu::always_inline]] static float max_across(F32x16 a) {
    float most = a.v[0];
    for (int i = 1; i < 16; ++i) most = a.v[i] > most ? a.v[i] : most;
    return most;
  }

  // Lane by lane: of a cast of all sixteen, g++ 12 for Arm mixes up the order of loads and stores.
  [[gnu::always_inline]] static I32x16 bits(F32x16 a) {
    return each<I32x16>([&](int i) { return __builtin_bit_cast(std::int32_t, a.v[i]); });
  }
  [[gnu::always_inline]] static F32x16 from_bits(I32x16 a) {
    return each([&](int i) { return __builtin_bit_cast(float, a.v[i]); });
  }
  [[gnu::always_inline]] static I32x16 round_to_int(F32x16 a) {
    return each<I32x16>([&](int i) { return static_cast<std::int32_t>(__builtin_lrintf(a.v[i])); });
  }
  [[gnu::always_inline]] static F32x16 to_float(I32x16 a) {
    return each([&](int i) { return static_cast<float>(a.v[i]); });
  }
  [[gnu::always_inline]] static F32x16 scale_by_power(F32x16 p, I32x16 n) {
    return from_bits(add(bits(p), shift_left_int<23>(n)));
  }

  [[gnu::always_inline]] static I32x16 set_int(int x) {
    return each<I32x16>([=](int) { return x; });
  }
  [[gnu::always_inline]] static I32x16 load_int(const void* p) {
    I32x16 out;
    std::memcpy(out.v, p, sizeof out.v);
    return out;
  }
  // Wraps around, as the vectors do.
  [[gnu::always_inline]] static I32x16 add(I32x16 a, I32x16 b) {
    return each<I32x16>([&](int i) {
      return static_cast<std::int32_t>(static_cast<std::uint32_t>(a.v[i]) + static_cast<std::uint32_t>(b.v[i]));
    });
  }
  [[gnu::always_inline]] static I32x16 sub(I32x16 a, I32x16 b) {
    return each<I32x16>([&](int i) {
      return static_cast<std::int32_t>(static_cast<std::uint32_t>(a.v[i]) - static_cast<std::uint32_t>(b.v[i]));
    });
  }
  [[gnu::always_inline]] static I32x16 max_int(I32x16 a, I32x16 b) {
    return each<I32x16>([&](int i) { return a.v[i] > b.v[i] ? a.v[i] : b.v[i]; });
  }
  [[gnu::always_inline]] static I32x16 and_int(I32x16 a, int mask) {
    return each<I32x16>([&](int i) { return a.v[i] & mask; });
  }
  [[gnu::always_inline]] static I32x16 or_int(I32x16 a, I32x16 b) {
    return each<I32x16>([&](int i) { return a.v[i] | b.v[i]; });
  }
  template <int kBits>
  [[gnu::always_inline]] static I32x16 shift_left_int(I32x16 a) {
    return each<I32x16>([&](int i) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(a.v[i]) << kBits); });
  }
  template <int kBits>
  [[gnu::always_inline]] static I32x16 shift_right_int(I32x16 a) {
    return each<I32x16>([&](int i) { return a.v[i] >> kBits; });
  }
  [[gnu::always_inline]] static I32x16 u8_int16(const void* p) {
    return each<I32x16>([=](int i) { return static_cast<std::int32_t>(static_cast<const std::uint8_t*>(p)[i]); });
  }
  [[gnu::always_inline]] static I32x16 s8_int16(const void* p) {
    return each<I32x16>([=](int i) { return static_cast<std::int32_t>(static_cast<const std::int8_t*>(p)[i]); });
  }
  [[gnu::always_inline]] static std::int32_t max_across_int(I32x16 a) {
    std::int32_t most = a.v[0];
    for (int i = 1; i < 16; ++i) most = a.v[i] > most ? a.v[i] : most;
    return most;
  }
  [[gnu::always_inline]] static std::int32_t sum_across_int(I32x16 a) {
    std::int32_t sum = 0;
    for (int i = 0; i < 16; ++i) sum += a.v[i];
    return sum;
  }
  [[gnu::always_inline]] static void store_s8(void* p, I32x16 a) {
    for (int i = 0; i < 16; ++i) static_cast<std::int8_t*>(p)[i] = static_cast<std::int8_t>(a.v[i]);
  }

  [[gnu::always_inline]] static U8x64 load_bytes(const void* p) {
    U8x64 out;
    std::memcpy(out.v, p, sizeof out.v);
    return out;
  }
  [[gnu::always_inline]] static void store_bytes(void* p, U8x64 a) { std::memcpy(p, a.v, sizeof a.v); }
  template <class Op>
  [[gnu::always_inline]] static U8x64 each_byte(Op f) {
    U8x64 out;
    for (int i = 0; i < 64; ++i) out.v[i] = static_cast<std::uint8_t>(f(i));
    return out;
  }
  [[gnu::always_inline]] static U8x64 and_bytes(U8x64 a, int mask) {
    return each_byte([&](int i) { return a.v[i] & mask; });
  }
  [[gnu::always_inline]] static U8x64 or_bytes(U8x64 a, U8x64 b) {
    return each_byte([&](int i) { return a.v[i] | b.v[i]; });
  }
  template <int kBits>
  [[gnu::always_inline]] static U8x64 shift_left16(U8x64 a) {
    return each_byte([&](int i) { return ((a.v[i & ~1] | a.v[i | 1] << 8) << kBits) >> (i & 1) * 8; });
  }
  template <int kBits>
  [[gnu::always_inline]] static U8x64 shift_right16(U8x64 a) {
    return each_byte([&](int i) { return ((a.v[i & ~1] | a.v[i | 1] << 8) >> kBits) >> (i & 1) * 8; });
  }
  [[gnu::always_inline]] static Table table16(const void* p) {
    Table out;
    std::memcpy(out.v, p, sizeof out.v);
    return out;
  }
  [[gnu::always_inline]] static U8x64 lookup(Table t, U8x64 a) {
    return each_byte([&](int i) { return t.v[a.v[i] & 15]; });
  }
  [[gnu::always_inline]] static U8x64 bytes8(U8x64 a) { return a; }

  template <int kMaxCode>
  [[gnu::always_inline]] static I32x16 dot_begin(I32x16 start) {
    return start;
  }
  template <int kMaxCode>
  [[gnu::always_inline]] static void dot_step(I32x16& d, U8x64 w, const void* x, int /*i*/, int /*count*/) {
    const auto* four = static_cast<const std::int8_t*>(x);
    for (int r = 0; r < 16; ++r) {
      for (int i = 0; i < 4; ++i) d.v[r] += w.v[4 * r + i] * four[i];
    }
  }
  template <int kMaxCode>
  [[gnu::always_inline]] static I32x16 dot_end(I32x16 d) {
    return d;
  }
};

}  // namespace plait
