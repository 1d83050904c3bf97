// int8_row, int4_32, fp4_16 and the 2-bit blocks: known blocks, both ways.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "formats/all.h"
#include "formats/fp4_16.h"
#include "formats/list.h"

namespace plait {
namespace {

using testing::ElementsAreArray;

std::vector<std::byte> encode(std::string_view name, const std::vector<float>& values) {
  const Format& format = *find_format(name);
  const auto count = static_cast<std::int64_t>(values.size());
  const std::int64_t bytes = row_blocks(format.info, count) * format.info.block_bytes;
  std::vector<std::byte> row(static_cast<std::size_t>(bytes));
  format.encode(values.data(), count, row.data());
  return row;
}

// `count` values; what is written behind them would be found.
std::vector<float> decode(std::string_view name, const std::vector<std::byte>& row, std::size_t count) {
  std::vector<float> values(count + 32, 77.0f);
  find_format(name)->decode(row.data(), static_cast<std::int64_t>(count), values.data());
  for (std::size_t i = count; i < values.size(); ++i) EXPECT_EQ(values[i], 77.0f) << name;
  values.resize(count);
  return values;
}

// The bytes of a row from `from` on, as numbers.
std::vector<int> codes(const std::vector<std::byte>& row, std::size_t from, std::size_t count) {
  std::vector<int> out;
  for (std::size_t i = from; i < from + count; ++i) out.push_back(std::to_integer<int>(row[i]));
  return out;
}

std::vector<float> padded(std::vector<float> values, std::size_t count) {
  values.resize(count);
  return values;
}

std::vector<std::byte> two_bit_block(std::size_t bytes, std::uint16_t scale, int codes) {
  std::vector<std::byte> block(bytes, to_byte(codes));
  put_u16(block.data(), scale);
  return block;
}

TEST(Int8Row, HasOneScaleForTheWholeRowAndRoundsHalvesAway) {
  const std::vector<std::byte> row = encode("int8_row", {127, -63.5f, 0.5f, 1.49f});
  ASSERT_EQ(row.size(), 36u);
  EXPECT_EQ(f32_at(row.data()), 1.0f);
  EXPECT_THAT(codes(row, 4, 6), ElementsAreArray({127, 256 - 64, 1, 1, 0, 0}));
  EXPECT_THAT(decode("int8_row", row, 4), ElementsAreArray({127.0f, -64.0f, 1.0f, 1.0f}));

  std::vector<float> longer(70, 0.5f);
  longer[69] = -254;
  const std::vector<std::byte> blocks = encode("int8_row", longer);
  ASSERT_EQ(blocks.size(), 3u * 36);
  for (std::size_t block = 0; block < 3; ++block) EXPECT_EQ(f32_at(&blocks[36 * block]), 2.0f);
  EXPECT_THAT(codes(blocks, 72 + 4 + 4, 4), ElementsAreArray({0, 256 - 127, 0, 0}));
}

TEST(Int8Row, HasScaleOneForZerosAndTheSmallestThereIsForTheSmallestValues) {
  EXPECT_EQ(f32_at(encode("int8_row", {0, 0, -0.0f}).data()), 1.0f);
  const float smallest = std::numeric_limits<float>::denorm_min();
  const std::vector<std::byte> row = encode("int8_row", {smallest, -190 * smallest});
  EXPECT_EQ(f32_at(row.data()), smallest);
  EXPECT_THAT(codes(row, 4, 2), ElementsAreArray({1, 256 - 127}));  // Cut: 190 / 127 rounds to one.
}

TEST(Int4By32, KeepsTheSignedExtreme) {
  const std::vector<float> first = padded({4, -2, 1, 0.25f}, 32);
  const std::vector<std::byte> row = encode("int4_32", first);
  ASSERT_EQ(row.size(), 20u);
  EXPECT_EQ(f32_at(row.data()), -0.5f);
  std::vector<int> wanted(16, 0x88);
  wanted[1] = 0x8c;
  wanted[0] = 0x80;
  wanted[2] = 0x86;
  EXPECT_THAT(codes(row, 4, 16), ElementsAreArray(wanted));
  EXPECT_EQ(decode("int4_32", row, 32)[0], 4.0f);

  const std::vector<std::byte> tie = encode("int4_32", padded({-1, 1}, 32));  // The first of two extremes wins.
  EXPECT_EQ(f32_at(tie.data()), 0.125f);
  EXPECT_THAT(codes(tie, 4, 3), ElementsAreArray({0x80, 0x8f, 0x88}));
  EXPECT_THAT(decode("int4_32", tie, 32), ElementsAreArray(padded({-1, 0.875f}, 32)));
}

TEST(Int4By32, EndsARowWithinABlock) {
  const std::vector<std::byte> row = encode("int4_32", {3, -1, 0.5f});
  EXPECT_EQ(f32_at(row.data()), -0.375f);
  std::vector<int> wanted(16, 0);
  wanted[1] = 0x0b;
  wanted[2] = 0x07;
  EXPECT_THAT(codes(row, 4, 16), ElementsAreArray(wanted));
  EXPECT_THAT(decode("int4_32", row, 3), ElementsAreArray({3.0f, -1.125f, 0.375f}));
}

TEST(Int4By32, HasScaleOneForZeros) {
  const std::vector<std::byte> row = encode("int4_32", std::vector<float>(32));
  EXPECT_EQ(f32_at(row.data()), 1.0f);
  EXPECT_THAT(codes(row, 4, 16), ElementsAreArray(std::vector<int>(16, 0x88)));
}

TEST(Fp4By16, TakesTheSmallerCodeOnTies) {
  const std::vector<std::byte> row = encode("fp4_16", padded({6, 0.25f, 2.5f, 5, -0.1f, -6, 0.75f, 1.25f, 3.5f}, 16));
  ASSERT_EQ(row.size(), 18u);
  EXPECT_EQ(codes(row, 0, 1)[0], 0x38);
  EXPECT_THAT(codes(row, 2, 8), ElementsAreArray({0x07, 0x64, 0xf8, 0x21, 0x05, 0, 0, 0}));
  EXPECT_THAT(decode("fp4_16", row, 9), ElementsAreArray({6.0f, 0.0f, 2.0f, 4.0f, 0.0f, -6.0f, 0.5f, 1.0f, 3.0f}));
}

// Every E4M3 number there is; its own byte is found for it, and of two the even one in the middle between them.
TEST(Fp4By16, ScalesAreE4m3WithDenormalOnes) {
  const auto value = [](int byte) {
    const int exponent = byte >> 3, mantissa = byte & 7;
    return exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, exponent - 10);
  };
  for (int byte = 0; byte < 0x7f; ++byte) {
    EXPECT_EQ(2 * Fp4_16::half_scale(byte), value(byte)) << byte;
    EXPECT_EQ(Fp4_16::nearest_scale(static_cast<float>(value(byte))), byte);
    if (byte == 0x7e) continue;
    const auto middle = static_cast<float>((value(byte) + value(byte + 1)) / 2);  // Exact.
    EXPECT_EQ(Fp4_16::nearest_scale(middle), byte + byte % 2);
    EXPECT_EQ(Fp4_16::nearest_scale(std::nextafter(middle, 0.0f)), byte);
    EXPECT_EQ(Fp4_16::nearest_scale(std::nextafter(middle, 1e9f)), byte + 1);
  }
  EXPECT_EQ(value(0x7e), 448);
  EXPECT_EQ(Fp4_16::nearest_scale(1e30f), 0x7e);
}

TEST(Fp4By16, UsesADenormalScaleAndOneWhereItIsZero) {
  const std::vector<std::byte> row = encode("fp4_16", {6 * 0x1p-9f, -3 * 0x1p-9f});
  EXPECT_EQ(codes(row, 0, 1)[0], 0x01);
  EXPECT_THAT(decode("fp4_16", row, 2), ElementsAreArray({6 * 0x1p-9f, -3 * 0x1p-9f}));
  const std::vector<std::byte> tiny = encode("fp4_16", {1e-6f, -1e-6f});
  EXPECT_THAT(codes(tiny, 0, 3), ElementsAreArray({0, 0, 0x80}));
  EXPECT_THAT(decode("fp4_16", tiny, 2), ElementsAreArray({0.0f, 0.0f}));
}

TEST(Fp4By16, HasAScaleForEach16AndEndsARowWithinThem) {
  std::vector<float> values(50, 0.0f);
  values[0] = 6, values[16] = 12, values[32] = 24, values[48] = 48, values[49] = -24;
  const std::vector<std::byte> row = encode("fp4_16", values);
  ASSERT_EQ(row.size(), 36u);
  EXPECT_THAT(codes(row, 0, 2), ElementsAreArray({0x38, 0x40}));
  EXPECT_THAT(codes(row, 18, 2), ElementsAreArray({0x48, 0x50}));
  EXPECT_THAT(decode("fp4_16", row, 50), ElementsAreArray(values));
}

TEST(TwoBits, AreTheScaleTimesTheCodeLessOneLowBitsFirst) {
  for (const std::string_view name : {"q2_0", "q2_g128"}) {
    const FormatInfo& info = find_format(name)->info;
    const std::vector<std::byte> block = two_bit_block(static_cast<std::size_t>(info.block_bytes), 0x3800, 0xe4);
    const std::vector<float> values = decode(name, block, static_cast<std::size_t>(info.block_values));
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], 0.5f * (static_cast<float>(i % 4) - 1)) << i;
  }
  EXPECT_EQ(find_format("q2_0")->info.block_bytes, 18);
  EXPECT_EQ(find_format("q2_g128")->info.block_bytes, 34);
}

TEST(TwoBits, ScalesIncludeTheDenormalHalves) {
  const std::pair<int, float> kCases[] = {{0x0001, 5.9604645e-8f}, {0x03ff, 6.0975552e-5f}, {0x3c00, 1.0f}};
  for (const auto& [bits, scale] : kCases) {
    EXPECT_EQ(decode("q2_0", two_bit_block(18, static_cast<std::uint16_t>(bits), 0xaa), 64)[63], scale);
    EXPECT_EQ(decode("q2_g128", two_bit_block(34, static_cast<std::uint16_t>(bits), 0xaa), 128)[127], scale);
  }
}

TEST(TwoBits, StayTwoBitsInThePackedPlane) {
  std::vector<std::byte> block = two_bit_block(18, 0, 0);
  block[2 + 10] = std::byte{3};  // Value 40: bits 0 and 1 of byte 10 of the codes; value 8 of group 1.
  EXPECT_EQ(Q2_0::kInfo.block_bytes * 32, 64 + 2 * 256);
  std::vector<std::byte> none(18), record(18 * 32);
  const std::byte* blocks[32];
  for (int row = 0; row < 32; ++row) blocks[row] = row == 3 ? block.data() : none.data();
  Q2_0::pack(blocks, record.data());
  for (std::size_t i = 0; i < record.size(); ++i) {
    const bool there =
        i == 64 + 256 + 4 * 3;  // linear-kernels.md 4: byte 64 (k / 16) + 4 r + k % 4, bits 2 (k / 4 % 4).
    EXPECT_EQ(record[i], there ? std::byte{3 << 4} : std::byte{0}) << i;
  }
}

TEST(TwoBits, EncodersKeepWhatTheirCodesCanHold) {
  std::vector<float> four(128), three(128);
  for (std::size_t i = 0; i < 128; ++i) {
    four[i] = 0.5f * (static_cast<float>(i % 4) - 1);
    three[i] = 0.75f * (static_cast<float>(i % 3) - 1);
  }
  EXPECT_EQ(encode("q2_g128", four), two_bit_block(34, 0x3800, 0xe4));
  EXPECT_THAT(decode("q2_g128", encode("q2_g128", three), 128), ElementsAreArray(three));
  EXPECT_THAT(decode("q2_0", encode("q2_0", three), 128), ElementsAreArray(three));
  for (float& value : four) value = -value;  // The scale may be negative.
  EXPECT_THAT(decode("q2_g128", encode("q2_g128", four), 128), ElementsAreArray(four));
}

}  // namespace
}  // namespace plait
