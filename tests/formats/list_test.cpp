// The list of formats: lookups, names of what is not read, and what each entry must have.
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "formats/all.h"

namespace plait {
namespace {

TEST(FormatList, FindsEveryFormatByTypeAndByName) {
  std::set<int> types;
  for (const Format& format : all_formats()) {
    EXPECT_EQ(find_format(format.info.gguf_type), &format);
    EXPECT_EQ(find_format(format.info.name), &format);
    EXPECT_TRUE(types.insert(format.info.gguf_type).second) << format.info.name;
    EXPECT_EQ(unsupported_format_name(format.info.gguf_type), "");
  }
  EXPECT_EQ(find_format(4), nullptr);
  EXPECT_EQ(find_format("q9_9"), nullptr);
}

TEST(FormatList, FormatsOfOurOwnHaveNoNumberThatAFileCouldName) {
  for (const std::string_view name : {"int8_row", "int4_32", "fp4_16", "q2_g128"}) {
    EXPECT_LT(find_format(name)->info.gguf_type, -1) << name;  // -1 stands for none.
    EXPECT_FALSE(find_format(name)->info.in_gguf()) << name;
  }
  EXPECT_TRUE(find_format("f32")->info.in_gguf());
}

TEST(FormatList, ComputableFormatsDecodeAndQuantizedOnesHaveGroups) {
  for (const Format& format : all_formats()) {
    const FormatInfo& info = format.info;
    EXPECT_GT(info.block_bytes, 0) << info.name;
    if (!info.can_compute) continue;
    EXPECT_NE(format.decode, nullptr) << info.name;
    EXPECT_EQ(format.group == nullptr, info.is_float) << info.name;
    EXPECT_TRUE(info.is_float || info.block_values % 32 == 0) << info.name;
  }
}

TEST(FormatList, NamesTypesThatAreKnownButNotRead) {
  EXPECT_EQ(unsupported_format_name(9), "q8_1");
  EXPECT_EQ(unsupported_format_name(4), "retired q4_2");
  EXPECT_EQ(unsupported_format_name(33), "retired q4_0_8_8");
  EXPECT_EQ(unsupported_format_name(141), "a type of ik_llama.cpp");
  EXPECT_EQ(unsupported_format_name(43), "");
  EXPECT_EQ(unsupported_format_name(-1), "");
}

TEST(FormatList, ListsIntegersWithoutDecodingThemAndDecodesDoubles) {
  for (const std::string_view name : {"i8", "i16", "i32", "i64"}) {
    const Format* format = find_format(name);
    ASSERT_NE(format, nullptr) << name;
    EXPECT_FALSE(format->info.can_compute);
    EXPECT_EQ(format->decode, nullptr);
  }
  const double values[] = {0.0, -1.5, 1e300, 0x1.0000010000001p0};
  float decoded[4];
  find_format("f64")->decode(reinterpret_cast<const std::byte*>(values), 4, decoded);
  EXPECT_EQ(decoded[1], -1.5f);
  EXPECT_EQ(decoded[2], std::numeric_limits<float>::infinity());
  EXPECT_EQ(decoded[3], 0x1.000002p0f);
}

}  // namespace
}  // namespace plait
