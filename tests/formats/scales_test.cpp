// Scales at the edges of their types, the codebooks, and bytes that no encoder writes.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "formats/all.h"
#include "formats/grids.h"
#include "formats/list.h"

namespace plait {
namespace {

nlohmann::json read_golden(const std::string& name) {
  return nlohmann::json::parse(std::ifstream(std::string(PLAIT_GOLDEN_DIR) + "/formats/" + name));
}

std::vector<float> decode(const Format& format, const std::vector<std::byte>& bytes) {
  const std::size_t blocks = bytes.size() / static_cast<std::size_t>(format.info.block_bytes);
  std::vector<float> values(blocks * static_cast<std::size_t>(format.info.block_values));
  format.decode(bytes.data(), static_cast<std::int64_t>(values.size()), values.data());
  return values;
}

TEST(ScaleBytes, NoEncoderWritesReadAsRecorded) {
  const nlohmann::json odd = read_golden("formats.json").at("unwritten_scale_bytes");
  const auto recorded = [&](std::string_view prefix) {
    for (const auto& item : odd.items()) {
      if (item.key().starts_with(prefix)) return item.value();
    }
    ADD_FAILURE() << "no entry for " << prefix;
    return nlohmann::json();
  };
  const nlohmann::json mxfp4 = recorded("MXFP4"), nvfp4 = recorded("NVFP4");
  const int exponents[] = {251, 252, 254, 255}, scales[] = {0x7f, 0x80, 0xff, 0xb8};
  std::vector<std::byte> block(36, std::byte{0x11});
  for (std::size_t i = 0; i < 4; ++i) {
    std::vector<std::byte> one(17, std::byte{0x21});
    one[0] = to_byte(exponents[i]);
    EXPECT_EQ(decode(*find_format("mxfp4"), one)[0], std::stof(mxfp4[i].get<std::string>())) << exponents[i];
    block[i] = to_byte(scales[i]);
  }
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(decode(*find_format("nvfp4"), block)[16 * i], std::stof(nvfp4[i].get<std::string>())) << scales[i];
  }
  std::vector<std::byte> ternary(66, std::byte{0xff});
  put_u16(&ternary[64], 0x3c00);
  EXPECT_EQ(decode(*find_format("tq2_0"), ternary)[0], recorded("TQ2_0").get<float>());
}

TEST(Codebooks, AreTheRecordedOnes) {
  const nlohmann::json grids = read_golden("grids.json");
  const auto expect_same = [&](const char* name, const auto& grid) {
    const nlohmann::json& rows = grids.at(name);
    ASSERT_EQ(rows.size(), grid.size()) << name;
    for (std::size_t row = 0; row < grid.size(); ++row) {
      for (std::size_t i = 0; i < grid[row].size(); ++i) ASSERT_EQ(rows[row][i].get<int>(), grid[row][i]) << name;
    }
  };
  expect_same("iq2_xxs", kIq2Xxs);
  expect_same("iq2_xs", kIq2Xs);
  expect_same("iq2_s", kIq2S);
  expect_same("iq3_xxs", kIq3Xxs);
  expect_same("iq3_s", kIq3S);
  expect_same("iq1_s", kIq1S);
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(grids.at("iq4_nl")[i].get<int>(), kIq4Nl[i]);
    EXPECT_EQ(grids.at("e2m1_times_2")[i].get<int>(), kE2m1Doubled[i]);
  }
  for (int i = 0; i < 128; ++i) EXPECT_EQ(grids.at("ksigns")[static_cast<std::size_t>(i)].get<int>(), even_signs(i));
}

// f16 bits of a block's scale and the value they stand for.
struct ScaleCase {
  std::uint16_t bits;
  double scale;
};

constexpr ScaleCase kScales[] = {{0x0000, 0},       {0x8000, 0},         {0x0001, 0x1p-24}, {0x8001, -0x1p-24},
                                 {0x0400, 0x1p-14}, {0x03ff, 0x3ffp-24}, {0x7bff, 65504},   {0xfbff, -65504}};

TEST(Scales, OfZeroDenormalAndLargestMagnitudeAreExact) {
  struct Case {
    std::string_view name;
    int scale_offset, code_offset;
  };
  for (const Case& format : {Case{"q8_0", 0, 2}, Case{"q4_0", 0, 2}, Case{"q1_0", 0, 2}, Case{"tq2_0", 64, 0}}) {
    const Format& entry = *find_format(format.name);
    std::vector<std::byte> block(static_cast<std::size_t>(entry.info.block_bytes), std::byte{0x81});
    Group group;
    for (const ScaleCase& scale : kScales) {
      put_u16(&block[static_cast<std::size_t>(format.scale_offset)], scale.bits);
      entry.group(block.data(), 0, group);
      EXPECT_EQ(group.scales[0], scale.scale) << format.name;
      EXPECT_EQ(decode(entry, block)[0], static_cast<double>(group.values[0]) * scale.scale) << format.name;
    }
  }
}

// Every format's scales are exact products, so a value is wrong by at most its own rounding, and the min's.
TEST(Scales, OfSuperBlocksAreExactProducts) {
  std::vector<std::byte> block(144, std::byte{0xff});
  for (const ScaleCase& scale : kScales) {
    put_u16(block.data(), scale.bits);
    put_u16(&block[2], scale.bits);
    Group group;
    find_format("q4_k")->group(block.data(), 0, group);
    EXPECT_EQ(group.scales[0], 63 * scale.scale);
    EXPECT_EQ(group.mins[0], 63 * scale.scale);
  }
  std::vector<std::byte> sixes(210, std::byte{0x80});
  for (const ScaleCase& scale : kScales) {
    put_u16(&sixes[208], scale.bits);
    Group group;
    find_format("q6_k")->group(sixes.data(), 7, group);
    EXPECT_EQ(group.scales[1], -128 * scale.scale);
  }
}

// What reaches the kernels is integers times scales, also where the file's scale is no number.
TEST(Scales, ThatAreNotFinitePassThrough) {
  std::vector<std::byte> block(34, std::byte{1});
  put_u16(block.data(), 0x7c00);
  EXPECT_TRUE(std::isinf(decode(*find_format("q8_0"), block)[0]));
  put_u16(block.data(), 0x7e00);
  EXPECT_TRUE(std::isnan(decode(*find_format("q8_0"), block)[0]));
}

}  // namespace
}  // namespace plait
