// Vocabulary: the operations that kernels are written over. Each instruction set is a struct that has them all.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

namespace plait {

// Sixteen lanes are the unit, whatever the width of a register. Every float operation is one IEEE operation a lane,
// round to nearest even, denormals honoured; so all instruction sets give the same bits.
//
//   F32x16, I32x16, Mask        sixteen floats, integers, truths
//   U8x64                       64 bytes: one dword (four codes) of each of sixteen rows
//   Table                       sixteen bytes to look codes up in
//
// Floats:   set, load, store; load_partial(p, n): lanes from n on are +0; store_partial(p, v, n): n lanes are written.
//           add, sub, mul, div, sqrt, abs; fma(a, b, c) = a * b + c and fnma(a, b, c) = c - a * b, one rounding;
//           max(a, b) = a > b ? a : b and min(a, b) = a < b ? a : b (so b where either is NaN)
//           less(a, b), unordered(a), first(n): lanes below n; select(mask, a, b) = mask ? a : b
//           half16, bf16_16 (16 values of two bytes), u8_16, s8_16 (16 bytes): widened exactly
//           store_half16, store_bf16_16: rounded to nearest even, overflow to infinity, NaN stays NaN
//           tree(v): the sum of the lanes in the order of linear-kernels.md 7.1;
//           tree16(v[16]): lane i is tree(v[i]), same bits; max_across(v): any order
//           bits, from_bits; round_to_int: nearest even; to_float; scale_by_power(p, n): bits(p) + (n << 23)
// Integers: set_int, load_int, add, sub, max_int (signed), and_int, or_int, shift_left_int<n>, shift_right_int<n>
//           (arithmetic); u8_int16, s8_int16: 16 bytes widened; max_across_int, sum_across_int;
//           store_s8(p, v): the low bytes
// Bytes:    load_bytes, store_bytes, and_bytes(u, mask), or_bytes, shift_left16<n>, shift_right16<n> (in lanes of 16
// bits),
//           table16(p), lookup(table, u): codes below 16
//
// Exact products of codes and activations (linear-kernels.md 6). A Dot takes `count` dwords of one part of a group,
// one step each, in ascending order; kMaxCode is the largest code:
//           Dot<kMaxCode> d = dot_begin<kMaxCode>(start);
//           dot_step<kMaxCode>(d, codes, activations, i, count) for i = 0 .. count - 1
//           dot_end<kMaxCode>(d): start + the sum over all codes and activations, in each row
// Codes up to 127 are unsigned bytes. Codes of eight bits (kMaxCode 255) are value + kZero8; bytes8 makes them from
// bytes that hold value + 128.
template <class V>
concept Vocabulary =
    requires(typename V::F32x16 f, typename V::I32x16 i, typename V::U8x64 u, typename V::Mask m, typename V::Table t,
             typename V::template Dot<15> dot, const float* in, float* out, const void* bytes, void* to, int n) {
      { V::kName } -> std::convertible_to<std::string_view>;
      { V::kZero8 } -> std::convertible_to<int>;
      { V::set(1.0f) } -> std::same_as<typename V::F32x16>;
      { V::load(in) } -> std::same_as<typename V::F32x16>;
      { V::load_partial(in, n) } -> std::same_as<typename V::F32x16>;
      V::store(out, f);
      V::store_partial(out, f, n);
      { V::add(f, f) } -> std::same_as<typename V::F32x16>;
      { V::sub(f, f) } -> std::same_as<typename V::F32x16>;
      { V::mul(f, f) } -> std::same_as<typename V::F32x16>;
      { V::div(f, f) } -> std::same_as<typename V::F32x16>;
      { V::sqrt(f) } -> std::same_as<typename V::F32x16>;
      { V::abs(f) } -> std::same_as<typename V::F32x16>;
      { V::min(f, f) } -> std::same_as<typename V::F32x16>;
      { V::max(f, f) } -> std::same_as<typename V::F32x16>;
      { V::fma(f, f, f) } -> std::same_as<typename V::F32x16>;
      { V::fnma(f, f, f) } -> std::same_as<typename V::F32x16>;
      { V::less(f, f) } -> std::same_as<typename V::Mask>;
      { V::unordered(f) } -> std::same_as<typename V::Mask>;
      { V::first(n) } -> std::same_as<typename V::Mask>;
      { V::select(m, f, f) } -> std::same_as<typename V::F32x16>;
      { V::half16(bytes) } -> std::same_as<typename V::F32x16>;
      { V::bf16_16(bytes) } -> std::same_as<typename V::F32x16>;
      { V::u8_16(bytes) } -> std::same_as<typename V::F32x16>;
      { V::s8_16(bytes) } -> std::same_as<typename V::F32x16>;
      V::store_half16(to, f);
      V::store_bf16_16(to, f);
      { V::tree(f) } -> std::same_as<float>;
      { V::tree16(&f) } -> std::same_as<typename V::F32x16>;
      { V::max_across(f) } -> std::same_as<float>;
      { V::bits(f) } -> std::same_as<typename V::I32x16>;
      { V::from_bits(i) } -> std::same_as<typename V::F32x16>;
      { V::round_to_int(f) } -> std::same_as<typename V::I32x16>;
      { V::to_float(i) } -> std::same_as<typename V::F32x16>;
      { V::scale_by_power(f, i) } -> std::same_as<typename V::F32x16>;
      { V::set_int(n) } -> std::same_as<typename V::I32x16>;
      { V::load_int(bytes) } -> std::same_as<typename V::I32x16>;
      { V::add(i, i) } -> std::same_as<typename V::I32x16>;
      { V::sub(i, i) } -> std::same_as<typename V::I32x16>;
      { V::max_int(i, i) } -> std::same_as<typename V::I32x16>;
      { V::and_int(i, n) } -> std::same_as<typename V::I32x16>;
      { V::or_int(i, i) } -> std::same_as<typename V::I32x16>;
      { V::template shift_left_int<4>(i) } -> std::same_as<typename V::I32x16>;
      { V::template shift_right_int<4>(i) } -> std::same_as<typename V::I32x16>;
      { V::u8_int16(bytes) } -> std::same_as<typename V::I32x16>;
      { V::s8_int16(bytes) } -> std::same_as<typename V::I32x16>;
      { V::max_across_int(i) } -> std::same_as<std::int32_t>;
      { V::sum_across_int(i) } -> std::same_as<std::int32_t>;
      V::store_s8(to, i);
      { V::load_bytes(bytes) } -> std::same_as<typename V::U8x64>;
      V::store_bytes(to, u);
      { V::and_bytes(u, n) } -> std::same_as<typename V::U8x64>;
      { V::or_bytes(u, u) } -> std::same_as<typename V::U8x64>;
      { V::template shift_left16<4>(u) } -> std::same_as<typename V::U8x64>;
      { V::template shift_right16<4>(u) } -> std::same_as<typename V::U8x64>;
      { V::table16(bytes) } -> std::same_as<typename V::Table>;
      { V::lookup(t, u) } -> std::same_as<typename V::U8x64>;
      { V::bytes8(u) } -> std::same_as<typename V::U8x64>;
      { V::template dot_begin<15>(i) } -> std::same_as<typename V::template Dot<15>>;
      V::template dot_step<15>(dot, u, bytes, n, n);
      { V::template dot_end<15>(dot) } -> std::same_as<typename V::I32x16>;
    };

}  // namespace plait
