// OpenAI's endpoints: chat and completions whole and as streams, models, what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/served.h"

namespace plait::test {
namespace {

using testing::Each;
using testing::HasSubstr;

constexpr const char* kTemplate =
    "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}{% if open %}<think>{% endif %}";

Talk talker() { return {.pieces = {"Yes", ", of", " course."}, .chat_template = kTemplate}; }
Talk thinker() { return {.pieces = {"<think>", "Hm", "m.", "</think>", "Yes", ".."}, .chat_template = kTemplate}; }

class OpenAi : public testing::Test {
 protected:
  static Json chat(Json more = Json::object()) {
    Json json = {{"messages", {{{"role", "user"}, {"content", "Well?"}}}}, {"temperature", 0}};
    json.update(more);
    return json;
  }
  static Json completion(Json more = Json::object()) {
    Json json = {{"prompt", "Well?"}, {"temperature", 0}};
    json.update(more);
    return json;
  }
  std::string refused(const std::string& path, const Json& body) {
    return served.post(path, body, 400)["error"]["param"].get<std::string>();
  }
  Served served{talker(), add_openai_routes};
};

std::vector<Json> chunks_of(const std::string& body) {
  std::vector<Json> chunks;
  for (const auto& [name, data] : events_of(body)) {
    if (data != "[DONE]") chunks.push_back(Json::parse(data));
  }
  EXPECT_THAT(body, testing::EndsWith("data: [DONE]\n\n"));
  return chunks;
}

TEST_F(OpenAi, ChatsWithReasoningApart) {
  Served thinking(thinker(), add_openai_routes);
  const Json answer = thinking.post("/v1/chat/completions", chat());
  EXPECT_EQ(answer["choices"][0]["message"]["content"], "Yes..");
  EXPECT_EQ(answer["choices"][0]["message"]["reasoning_content"], "Hmm.");
  EXPECT_EQ(answer["usage"]["completion_tokens"], 6);
  EXPECT_EQ(answer["usage"]["completion_tokens_details"]["reasoning_tokens"], 4);
  const Json left = thinking.post("/v1/chat/completions", chat({{"reasoning_format", "none"}}));
  EXPECT_EQ(left["choices"][0]["message"]["content"], "<think>Hmm.</think>Yes..");
}

TEST_F(OpenAi, StreamsAChatAndItsUsage) {
  const Json options = {{"include_usage", true}};
  const auto chunks = chunks_of(served.text("POST", "/v1/chat/completions",
                                            chat({{"stream", true}, {"stream_options", options}, {"n", 2}}).dump()));
  std::string texts[2];
  for (const Json& chunk : chunks) {
    for (const Json& choice : chunk["choices"])
      texts[choice["index"].get<std::size_t>()] += choice["delta"].value("content", "");
  }
  EXPECT_THAT(texts, Each("Yes, of course."));
  EXPECT_TRUE(chunks.back()["choices"].empty());
  EXPECT_EQ(chunks.back()["usage"]["completion_tokens"], 6);
  EXPECT_EQ(chunks.back()["usage"]["prompt_tokens"], 22);  // Counted once.
}

TEST_F(OpenAi, CompletesTextsAndIds) {
  const Json answer = served.post("/v1/completions", completion({{"prompt", {"Well?", "Or?"}}}));
  ASSERT_EQ(answer["choices"].size(), 2u);
  EXPECT_EQ(answer["choices"][1]["text"], "Yes, of course.");
  EXPECT_EQ(answer["choices"][1]["index"], 1);
  EXPECT_EQ(answer["usage"]["prompt_tokens"], 8);
  const Json ids = served.post("/v1/completions", completion({{"prompt", {65, 66}}, {"echo", true}}));
  EXPECT_THAT(ids["choices"][0]["text"].get<std::string>(), HasSubstr("Yes, of course."));
}

TEST_F(OpenAi, StreamsACompletionUnderItsOwnPath) {
  const auto chunks = chunks_of(served.text("POST", "/v1/completions", completion({{"stream", true}}).dump()));
  std::string text;
  for (const Json& chunk : chunks) {
    EXPECT_EQ(chunk["object"], "text_completion");
    text += chunk["choices"][0]["text"].get<std::string>();
  }
  EXPECT_EQ(text, "Yes, of course.");
}

TEST_F(OpenAi, ListsTheModel) {
  EXPECT_EQ(served.get("/v1/models")["data"][0]["id"], "talker");
  EXPECT_EQ(served.get("/v1/models/talker")["id"], "talker");
  const Json error = served.get("/v1/models/other", 404)["error"];
  EXPECT_EQ(error["param"], "model");
  EXPECT_EQ(error["code"], "model_not_found");
}

TEST_F(OpenAi, RefusesByName) {
  const std::string chats = "/v1/chat/completions", completions = "/v1/completions";
  EXPECT_EQ(refused(chats, chat({{"tools", {{{"type", "function"}}}}})), "tools");
  EXPECT_EQ(refused(chats, chat({{"response_format", {{"type", "json_object"}}}})), "response_format");
  EXPECT_EQ(refused(chats, chat({{"top_logprobs", 2}})), "top_logprobs");
  EXPECT_EQ(refused(chats, chat({{"n", 17}})), "n");
  EXPECT_EQ(refused(chats, chat({{"stream_options", {{"include_usage", true}}}})), "stream_options");
  EXPECT_EQ(refused(chats, chat({{"reasoning_effort", "high"}})), "reasoning_effort");
  EXPECT_EQ(refused(completions, completion({{"suffix", "x"}})), "suffix");
  EXPECT_EQ(refused(completions, completion({{"prompt", Json::array()}})), "prompt");
  EXPECT_EQ(refused(completions, completion({{"prompt", {1, "x"}}})), "prompt");
  EXPECT_EQ(refused("/v1/embeddings", {{"input", "x"}, {"pooling", "max"}}), "pooling");
  EXPECT_EQ(refused("/v1/embeddings", {{"input", "x"}, {"dimensions", 3}}), "dimensions");
}

}  // namespace
}  // namespace plait::test
