// Chat templates against what their makers' own renderer gives: templates over conversations, and continued messages.
#include "text/chat_template.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace plait {
namespace {

using Json = nlohmann::ordered_json;

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

const std::string kFolder = std::string(PLAIT_GOLDEN_DIR) + "/chat";

// The reference raises where a template changes a list; an engine may render instead, so either is right.
bool may_render(const Json& expected) { return expected.value("kind", "") == "SecurityError"; }

void expect_same(const Json& expected, const Result<std::string>& got, const std::string& where) {
  if (!expected.value("raises", false)) {
    ASSERT_TRUE(got) << where << ": " << got.error().message;
    EXPECT_EQ(*got, expected["text"].get<std::string>()) << where;
    return;
  }
  if (may_render(expected)) return;
  ASSERT_FALSE(got) << where << " rendered, but should raise " << expected["message"];
  if (expected["kind"] == "TemplateError") {
    EXPECT_NE(got.error().message.find(expected["message"].get<std::string>()), std::string::npos)
        << where << ": " << got.error().message;
  }
}

TEST(ChatTemplate, RendersEveryConversationAsItsMakerDoes) {
  const Json golden = Json::parse(read_file(kFolder + "/cases.json"));
  const Json& environment = golden["environment"];
  std::map<std::string, std::string> sources;
  ASSERT_GT(golden["cases"].size(), 500u);
  for (const Json& item : golden["cases"]) {
    const std::string name = item["template"], conversation_name = item["conversation"];
    if (!sources.contains(name)) sources[name] = read_file(kFolder + "/templates/" + name);
    ASSERT_FALSE(sources[name].empty()) << name;
    const Json& conversation = golden["conversations"][conversation_name];
    Json variables = {{"bos_token", environment["bos_token"]}, {"eos_token", environment["eos_token"]}};
    for (const auto& [key, value] : environment["always_set"].items()) {
      const Json& undefined = conversation["undefined"];
      const bool left_out = std::any_of(undefined.begin(), undefined.end(),
                                        [&name = key](const Json& entry) { return entry.get<std::string>() == name; });
      if (!left_out) variables[key] = value;
    }
    variables["messages"] = conversation["messages"];
    variables.update(conversation["variables"]);
    const RenderOptions options{.now = environment["strftime_now"],
                                .continue_final_message = conversation["continue_final_message"]};
    expect_same(item, render_template(sources[name], variables.dump(), options), name + " x " + conversation_name);
  }
}

TEST(ChatTemplate, UnderstandsTheTemplateLanguage) {
  std::ifstream file(kFolder + "/language.jsonl");
  std::string line;
  int count = 0;
  for (; std::getline(file, line); ++count) {
    const Json item = Json::parse(line);
    const std::string source = item["src"];
    const Json variables = item.value("vars", Json::object());
    const Result<std::string> got = render_template(source, variables.dump(), {.now = "2026-08-22T13:45:06"});
    if (item.value("tier", 1) == 2 && !got) continue;  // What no template needs may be refused.
    expect_same(item, got, source);
  }
  EXPECT_GT(count, 700);
}

std::string render(const std::string& source, const Json& variables = Json::object(), RenderOptions options = {}) {
  const Result<std::string> text = render_template(source, variables.dump(), options);
  return text ? *text : "error: " + text.error().message;
}

TEST(ChatTemplate, NamesLineAndCauseOfAnError) {
  TemplateError error;
  const auto text = render_template("a\nb\n{{ missing.field }}\n", "{}", {}, &error);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().message, "template line 3: 'missing' is undefined");
  EXPECT_EQ(error.line, 3);
  EXPECT_EQ(error.message, "'missing' is undefined");
  EXPECT_EQ(render("\n{% if %}"), "error: template line 2: expected an expression, got 'end of statement block'");
  EXPECT_EQ(render("{% macro m() %}\n{{ 1 + 'a' }}\n{% endmacro %}\n{{ m() }}"),
            "error: template line 2: unsupported operand type(s) for +: 'int' and 'str'");
}

TEST(ChatTemplate, RefusesVariablesThatAreNoJsonObject) {
  EXPECT_FALSE(render_template("x", "[1]", {}));
  EXPECT_FALSE(render_template("x", "{", {}));
  EXPECT_FALSE(render_template("\xff", "{}", {}));
  EXPECT_FALSE(render_template("x", "{}", {.now = "yesterday"}));
}

TEST(ChatTemplate, ContinuesTheLastMessageWithoutItsEnd) {
  const Json messages = Json::parse(R"([{"role":"user","content":"q"},{"role":"assistant","content":"The answer "}])");
  const std::string source(kChatMlTemplate);
  const RenderOptions options{.continue_final_message = true};
  EXPECT_EQ(render(source, {{"messages", messages}}, options),
            "<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\nThe answer ");
  const std::string trimming = "{% for m in messages %}[{{ m.content | trim }}]{% endfor %}";
  EXPECT_EQ(render(trimming, {{"messages", messages}}, options), "[q][The answer");
  EXPECT_TRUE(render("nothing of it", {{"messages", messages}}, options).starts_with("error: "));
  EXPECT_TRUE(render(source, {{"messages", Json::array()}}, options).starts_with("error: "));
}

TEST(ChatTemplate, TakesTheLocalClockWhenNoneIsGiven) {
  const std::string year = render("{{ strftime_now('%Y') }}");
  ASSERT_EQ(year.size(), 4u);
  EXPECT_GE(std::stoi(year), 2024);
}

}  // namespace
}  // namespace plait
