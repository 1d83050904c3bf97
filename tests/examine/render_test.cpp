// plait render: what a request line sets, what comes back, and what is said when it is wrong.
#include "examine/render.h"

#include <gtest/gtest.h>

#include <string>

namespace plait {
namespace {

const ModelTemplate kModel{.source = "{{ bos_token }}{% for m in messages %}{{ m.content }};{% endfor %}{{ tools }}",
                           .bos_token = "<s>",
                           .eos_token = "</s>"};

TEST(Render, SetsOnlyWhatALineNames) {
  EXPECT_EQ(render_line(kModel, R"({"variables":{"messages":[{"content":"a"}]}})"), R"({"text":"a;"})");
  EXPECT_EQ(render_line(kModel, R"({"variables":{"x":"\u00e9"},"template":"[{{ x }}]"})"), "{\"text\":\"[\u00e9]\"}");
  EXPECT_EQ(
      render_line(kModel, R"({"variables":{},"template":"{{ strftime_now('%d') }}","now":"2026-08-22T13:45:06"})"),
      R"({"text":"22"})");
}

TEST(Render, SetsTheUsualForAFileOfMessages) {
  const auto list = render_messages(kModel, R"([{"content":"a"}])");
  ASSERT_TRUE(list);
  EXPECT_EQ(*list, "<s>a;None");
  const auto object = render_messages(kModel, R"({"messages":[],"bos_token":"!","tools":[1]})");
  ASSERT_TRUE(object);
  EXPECT_EQ(*object, "![1]");
  EXPECT_FALSE(render_messages(kModel, "3"));
  EXPECT_FALSE(render_messages(kModel, "{}"));
  EXPECT_FALSE(render_messages(kModel, "["));
}

TEST(Render, AnswersAWrongLineWithAnError) {
  EXPECT_EQ(render_line(kModel, R"({"variables":{},"template":"a\n{{ 1/0 }}"})"),
            R"({"error":"template line 2: division by zero","line":2})");
  for (const char* line : {"", "{", "[]", "{}", R"({"variables":[]})", R"({"variables":{},"template":1})",
                           R"({"variables":{},"now":1})", R"({"variables":{},"continue_final_message":"yes"})"}) {
    EXPECT_TRUE(render_line(kModel, line).starts_with(R"({"error":)")) << line;
  }
  EXPECT_TRUE(render_line(ModelTemplate{}, R"({"variables":{}})").starts_with(R"({"error":)"));
}

}  // namespace
}  // namespace plait
