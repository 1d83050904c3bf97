// Messages of a chat: what a template gets to see, and what is refused by name.
#include "server/chat_messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plait {
namespace {

std::string made(const char* messages) {
  Fields fields(Json{{"messages", Json::parse(messages)}});
  const std::string text = chat_messages(fields);
  EXPECT_FALSE(fields.error()) << fields.error()->message;
  return text;
}

std::string field_at_fault(const char* messages) {
  Fields fields(Json{{"messages", Json::parse(messages)}});
  EXPECT_EQ(chat_messages(fields), "");
  if (!fields.error()) return "none";
  EXPECT_EQ(fields.error()->status, 400);
  const std::string& field = fields.error()->field;
  EXPECT_THAT(fields.error()->message, testing::HasSubstr(field.substr(field.rfind('.') + 1)));
  return fields.error()->field;
}

TEST(ChatMessages, KeepRolesAndContents) {
  EXPECT_EQ(
      made(R"([{"role":"system","content":"A"},{"content":"B","role":"user"},{"role":"assistant","content":""}])"),
      R"([{"role":"system","content":"A"},{"role":"user","content":"B"},{"role":"assistant","content":""}])");
}

TEST(ChatMessages, TakeADeveloperForTheSystem) {
  EXPECT_EQ(made(R"([{"role":"developer","content":"A"}])"), R"([{"role":"system","content":"A"}])");
}

TEST(ChatMessages, JoinPartsOfTextByNewlines) {
  EXPECT_EQ(made(R"([{"role":"user","content":[{"type":"text","text":"A"},{"type":"text","text":"B"}]}])"),
            R"([{"role":"user","content":"A\nB"}])");
  EXPECT_EQ(made(R"([{"role":"user","content":[]}])"), R"([{"role":"user","content":""}])");
}

TEST(ChatMessages, KeepWhatTemplatesMayUseAndNothingElse) {
  EXPECT_EQ(made(R"([{"role":"assistant","content":"A","name":"N","reasoning_content":"R","tool_calls":[],"audio":null,
                      "refusal":null,"other":1}])"),
            R"([{"role":"assistant","content":"A","name":"N","reasoning_content":"R"}])");
}

TEST(ChatMessages, AreRefusedByName) {
  EXPECT_EQ(field_at_fault("null"), "messages");
  EXPECT_EQ(field_at_fault("\"Hello\""), "messages");
  EXPECT_EQ(field_at_fault("[]"), "messages");
  EXPECT_EQ(field_at_fault("[1]"), "messages[0]");
  EXPECT_EQ(field_at_fault(R"([{"content":"A"}])"), "messages[0].role");
  EXPECT_EQ(field_at_fault(R"([{"role":"user","content":"A"},{"role":"king","content":"A"}])"), "messages[1].role");
  EXPECT_EQ(field_at_fault(R"([{"role":"tool","content":"A","tool_call_id":"x"}])"), "messages[0].role");
  EXPECT_EQ(field_at_fault(R"([{"role":"function","content":"A","name":"x"}])"), "messages[0].role");
  EXPECT_EQ(field_at_fault(R"([{"role":"user"}])"), "messages[0].content");
  EXPECT_EQ(field_at_fault(R"([{"role":"user","content":5}])"), "messages[0].content");
  EXPECT_EQ(field_at_fault(R"([{"role":"user","content":["A"]}])"), "messages[0].content[0]");
  EXPECT_EQ(field_at_fault(R"([{"role":"user","content":[{"type":"text"}]}])"), "messages[0].content[0].text");
  for (const char* type : {"image_url", "input_audio", "file", "refusal"}) {
    const std::string part = R"({"type":"text","text":"A"},{"type":")" + std::string(type) + "\"}";
    EXPECT_EQ(field_at_fault((R"([{"role":"user","content":[)" + part + "]}]").c_str()), "messages[0].content[1].type");
  }
  EXPECT_EQ(field_at_fault(R"([{"role":"assistant","content":null,"tool_calls":[{"id":"x"}]}])"),
            "messages[0].tool_calls");
  EXPECT_EQ(field_at_fault(R"([{"role":"assistant","content":"A","function_call":{"name":"x"}}])"),
            "messages[0].function_call");
  EXPECT_EQ(field_at_fault(R"([{"role":"user","content":"A","name":5}])"), "messages[0].name");
}

}  // namespace
}  // namespace plait
