// The JSON reader: order of keys, nesting, and errors that say where.
#include "base/json.h"

#include <gtest/gtest.h>

#include <string>

namespace plait {
namespace {

TEST(Json, KeepsTheOrderOfKeys) {
  const auto value = parse_json(R"({"b":1,"a":[true,null,"\u00e9"]})");
  ASSERT_TRUE(value);
  EXPECT_EQ(value->dump(), "{\"b\":1,\"a\":[true,null,\"\u00e9\"]}");
}

TEST(Json, NamesTheOffsetOfAnError) {
  const auto value = parse_json(R"({"a": nope})", "request");
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(value.error().message, "request: not valid JSON at offset 7 of 11");
}

TEST(Json, RefusesWhatIsNotJson) {
  for (const char* text : {"", " ", "{", "[1,]", "{\"a\"}", "\"\xff\"", "1 2", "nul", "[1e999]", "\"\\ud800\""}) {
    EXPECT_FALSE(parse_json(text)) << text;
  }
}

TEST(Json, AllowsSixtyFourLevelsAndNoMore) {
  EXPECT_TRUE(parse_json(std::string(64, '[') + std::string(64, ']')));
  const auto deep = parse_json(std::string(65, '[') + std::string(65, ']'));
  ASSERT_FALSE(deep);
  EXPECT_NE(deep.error().message.find("offset 64"), std::string::npos);
  EXPECT_FALSE(parse_json(std::string(1'000'000, '[')));
  EXPECT_TRUE(parse_json('"' + std::string(100, '[') + '"'));
}

}  // namespace
}  // namespace plait
