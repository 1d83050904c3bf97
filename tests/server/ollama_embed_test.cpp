// Ollama's embeddings: /api/embed and /api/embeddings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/served.h"

namespace plait::test {
namespace {

using testing::HasSubstr;

class OllamaEmbeddings : public testing::Test {
 protected:
  Served served{{.pieces = {"Yes"}, .chat_template = {}}, add_ollama_routes};
};

TEST_F(OllamaEmbeddings, EmbedsTexts) {
  const Json answer = served.post("/api/embed", {{"model", "any"}, {"input", {"Hi", "you", "Hi"}}});
  EXPECT_EQ(answer["model"], "any");
  ASSERT_EQ(answer["embeddings"].size(), 3u);
  EXPECT_EQ(answer["embeddings"][0].size(), 64u);
  EXPECT_EQ(answer["embeddings"][0], answer["embeddings"][2]);
  EXPECT_EQ(answer["prompt_eval_count"], 7);
  double length = 0;
  for (const Json& value : answer["embeddings"][0]) length += value.get<double>() * value.get<double>();
  EXPECT_NEAR(length, 1, 1e-5);
  EXPECT_EQ(served.post("/api/embed", {{"input", "Hi"}})["embeddings"], Json::array({answer["embeddings"][0]}));
  EXPECT_EQ(served.post("/api/embeddings", {{"prompt", "Hi"}})["embedding"], answer["embeddings"][0]);
  const Json many = served.post("/api/embed", {{"input", std::vector<std::string>(100, "a")}});
  EXPECT_EQ(many["embeddings"].size(), 100u);
}

TEST_F(OllamaEmbeddings, CutsWhatIsTooLongToEmbed) {
  const std::string text(400, 'a');
  EXPECT_EQ(served.post("/api/embed", {{"input", text}})["prompt_eval_count"], 255);
  EXPECT_THAT(served.post("/api/embed", {{"input", text}, {"truncate", false}}, 400)["error"].get<std::string>(),
              HasSubstr("400 tokens"));
}

TEST_F(OllamaEmbeddings, RefusesEmbeddingsByName) {
  const std::pair<Json, const char*> cases[] = {
      {Json::object(), "input is missing"},
      {{{"input", 5}}, "input is a number"},
      {{{"input", {"a", ""}}}, "input[1]: the prompt has no tokens"},
      {{{"input", "a"}, {"dimensions", 5}}, "dimensions"},
      {{{"input", "a"}, {"options", {{"num_gpu", 1}}}}, "options.num_gpu"},
  };
  for (const auto& [body, text] : cases)
    EXPECT_THAT(served.post("/api/embed", body, 400)["error"].get<std::string>(), HasSubstr(text)) << body;
  EXPECT_THAT(served.post("/api/embeddings", Json::object(), 400)["error"].get<std::string>(),
              HasSubstr("prompt is missing"));
}

}  // namespace
}  // namespace plait::test
