// Fields: a body read key by key, and the first fault named.
#include "server/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plait {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string message_of(const Fields& fields) { return fields.error() ? fields.error()->message : ""; }

TEST(Fields, ReadsWhatIsThere) {
  Fields fields(std::string_view(
      R"({"s":"a","b":true,"i":7,"whole":40.0,"n":0.5,"list":["x","y"],"one":"z","o":{},"a":[1],"nil":null})"));
  EXPECT_EQ(fields.string("s"), "a");
  EXPECT_EQ(fields.boolean("b"), true);
  EXPECT_EQ(fields.integer("i", 0, 9), 7);
  EXPECT_EQ(fields.integer("whole", 0, 99), 40);
  EXPECT_EQ(fields.number("n", 0, 1), 0.5);
  EXPECT_THAT(fields.strings("list", 2), ElementsAre("x", "y"));
  EXPECT_THAT(fields.strings("one", 1), ElementsAre("z"));
  EXPECT_NE(fields.object("o"), nullptr);
  EXPECT_NE(fields.array("a"), nullptr);
  for (const char* key : {"nil", "absent"}) {
    EXPECT_EQ(fields.string(key), std::nullopt);
    EXPECT_EQ(fields.integer(key, 0, 1), std::nullopt);
    EXPECT_EQ(fields.any(key), nullptr);
    fields.refuse({key});
  }
  EXPECT_FALSE(fields.error());
}

TEST(Fields, NamesTheFirstFault) {
  const auto fault_of = [](std::string_view body, const auto& read) {
    Fields fields(body);
    read(fields);
    fields.fault("later", "a later fault");
    return message_of(fields);
  };
  const std::string_view body =
      R"({"s":"a","n":-3,"f":0.5,"big":18446744073709551615,"huge":1e300,"l":[1],"l3":["a","b","c"]})";
  EXPECT_EQ(fault_of(body, [](Fields& f) { f.integer("s", 0, 9); }), "s is a string, wanted an integer from 0 to 9");
  EXPECT_EQ(fault_of(body, [](Fields& f) { f.integer("n", 0, 9); }), "n is -3, wanted an integer from 0 to 9");
  EXPECT_EQ(fault_of(body, [](Fields& f) { f.integer("f", 0, 9); }), "f is 0.5, wanted an integer from 0 to 9");
  EXPECT_THAT(fault_of(body, [](Fields& f) { f.integer("big", 0, INT64_MAX); }),
              HasSubstr("big is 18446744073709551615"));
  EXPECT_THAT(fault_of(body, [](Fields& f) { f.integer("huge", INT64_MIN, INT64_MAX); }), HasSubstr("huge is 1e+300"));
  EXPECT_EQ(fault_of(body, [](Fields& f) { f.number("n", 0, 2); }), "n is -3, wanted a number from 0 to 2");
  EXPECT_EQ(fault_of(body, [](Fields& f) { f.boolean("s"); }), "s is a string, wanted a boolean");
  EXPECT_EQ(fault_of(body, [](Fields& f) { f.string("n"); }), "n is a number, wanted a string");
  EXPECT_EQ(fault_of(body, [](Fields& f) { f.strings("l", 4); }), "l[0] is a number, wanted a string");
  EXPECT_EQ(fault_of(body, [](Fields& f) { f.strings("l3", 2); }), "l3 has 3 entries, wanted at most 2");
  EXPECT_EQ(fault_of(body, [](Fields& f) { f.array("s"); }), "s is a string, wanted an array");
  EXPECT_EQ(fault_of(body, [](Fields& f) { f.object("l"); }), "l is an array, wanted an object");
  EXPECT_EQ(fault_of(body, [](Fields& f) { f.require("absent"); }), "absent is missing");
  EXPECT_EQ(fault_of(body, [](Fields& f) { f.refuse({"s"}); }), "the request has s, which is not supported");
  EXPECT_EQ(fault_of("[1]", [](Fields&) {}), "the body is an array, wanted an object");
  EXPECT_EQ(fault_of("", [](Fields&) {}), "the body is empty, wanted a JSON object");
}

TEST(Fields, NamesKeysOfAnObjectInside) {
  Fields fields(Json{{"seed", "x"}}, "options.");
  fields.integer("seed", 0, 1);
  EXPECT_EQ(fields.error()->field, "options.seed");
  EXPECT_THAT(message_of(fields), HasSubstr("options.seed is a string"));
}

TEST(Fields, RefusesABodyThatFillsMemory) {
  std::string list = "{\"a\":[1";
  for (int i = 0; i < 300'000; ++i) list += ",1";
  EXPECT_EQ(message_of(Fields(list + "]}")), "the body has too many values, wanted at most 262144");
  std::string lists = "{\"a\":[";
  for (int i = 0; i < 150'000; ++i) lists += "[],";
  EXPECT_THAT(message_of(Fields(lists + "1]}")), HasSubstr("too many values"));
  // Commas of a text are no values.
  EXPECT_EQ(message_of(Fields("{\"a\":\"\\\"" + std::string(300'000, ',') + "\"}")), "");
  EXPECT_EQ(message_of(Fields("{\"a\":[" + std::string(200'000, ' ') + "]}")), "");
}

TEST(Fields, RefusesAnObjectThatTakesLongToRead) {
  const auto object = [](int members) {
    std::string text = "{\"a\":0";
    for (int i = 0; i < members; ++i) text += ",\"" + std::to_string(i) + "\":0";
    return text + "}";
  };
  EXPECT_EQ(message_of(Fields(object(8000))), "");
  EXPECT_THAT(message_of(Fields(object(9000))), HasSubstr("too many values"));
  std::string many = "{\"list\":[0";
  for (int i = 0; i < 1000; ++i) many += "," + object(60);
  EXPECT_EQ(message_of(Fields(many + "]}")), "");
}

}  // namespace
}  // namespace plait
