// /v1/embeddings: forms of inputs, both encodings, poolings, usage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "server/served.h"

namespace plait::test {
namespace {

constexpr const char* kPath = "/v1/embeddings";

class OpenAiEmbeddings : public testing::Test {
 protected:
  Json ask(const Json& input, const Json& more = Json::object()) {
    Json body = {{"input", input}};
    body.update(more);
    return served.post(kPath, body);
  }
  Json vector(const Json& input, const Json& more = Json::object()) { return ask(input, more)["data"][0]["embedding"]; }

  Served served{Talk{.pieces = {"Yes", ", of"}}, add_openai_routes};
};

// Of RFC 4648's text, four letters are three bytes.
std::vector<float> floats_of(const std::string& text) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<unsigned char> bytes;
  for (std::size_t at = 0; at + 3 < text.size(); at += 4) {
    std::uint32_t bits = 0;
    int padding = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t value = kLetters.find(text[at + i]);
      padding += value == std::string_view::npos ? 1 : 0;
      bits = bits << 6 | (value == std::string_view::npos ? 0u : static_cast<std::uint32_t>(value));
    }
    for (int i = 0; i < 3 - padding; ++i) bytes.push_back(static_cast<unsigned char>(bits >> (16 - 8 * i)));
  }
  std::vector<float> floats;
  for (std::size_t at = 0; at + 3 < bytes.size(); at += 4)
    floats.push_back(
        std::bit_cast<float>(static_cast<std::uint32_t>(bytes[at] | bytes[at + 1] << 8 | bytes[at + 2] << 16) |
                             static_cast<std::uint32_t>(bytes[at + 3]) << 24));
  return floats;
}

TEST_F(OpenAiEmbeddings, HaveTheShapeOfOpenAi) {
  const Json answer = ask({"Hello", "Or"});
  EXPECT_EQ(answer["object"], "list");
  EXPECT_EQ(answer["model"], "talker");
  ASSERT_EQ(answer["data"].size(), 2u);
  EXPECT_EQ(answer["data"][1]["object"], "embedding");
  EXPECT_EQ(answer["data"][1]["index"], 1);
  EXPECT_EQ(answer["data"][1]["embedding"].size(), 64u);
  EXPECT_EQ(answer["usage"], Json({{"prompt_tokens", 7}, {"total_tokens", 7}}));
}

TEST_F(OpenAiEmbeddings, HaveLengthOne) {
  double squares = 0;
  for (const Json& value : vector({65, piece_token(0), piece_token(1)})) squares += std::pow(value.get<double>(), 2);
  EXPECT_NEAR(squares, 1, 1e-5);
}

TEST_F(OpenAiEmbeddings, TakeTextsAndIdsInAllForms) {
  EXPECT_EQ(vector("AB"), vector({65, 66}));
  EXPECT_EQ(ask({{65}, {66, 67}})["usage"]["prompt_tokens"], 3);
  EXPECT_EQ(ask(std::vector<std::string>(130, "a"))["data"][129]["index"], 129);  // In several turns.
}

TEST_F(OpenAiEmbeddings, ComeAsNumbersOrAsBytes) {
  const Json ids = {65, piece_token(0), piece_token(1)};
  const std::string text = vector(ids, {{"encoding_format", "base64"}});
  EXPECT_EQ(floats_of(text), vector(ids, {{"encoding_format", "float"}}).get<std::vector<float>>());
}

TEST_F(OpenAiEmbeddings, PoolAllTokensOrTheLast) {
  const Json ids = {65, piece_token(0), piece_token(1)};
  EXPECT_NE(vector(ids), vector(ids, {{"pooling", "last"}}));
  EXPECT_EQ(vector(ids), vector(ids, {{"pooling", "mean"}}));
  EXPECT_EQ(vector(ids, {{"pooling", "last"}}), vector({piece_token(1)}));  // In this model a row is its token's alone.
  EXPECT_EQ(vector(ids, {{"dimensions", 64}}), vector(ids));
}

TEST_F(OpenAiEmbeddings, AreRefusedByName) {
  const auto refused = [&](const Json& body) { return served.post(kPath, body, 400)["error"]["param"]; };
  EXPECT_EQ(refused(Json::object()), "input");
  EXPECT_EQ(refused({{"input", Json::array()}}), "input");
  EXPECT_EQ(refused({{"input", 5}}), "input");
  EXPECT_EQ(refused({{"input", std::vector<std::string>(2049, "a")}}), "input");
  EXPECT_EQ(refused({{"input", "a"}, {"encoding_format", "int8"}}), "encoding_format");
  EXPECT_EQ(refused({{"input", "a"}, {"dimensions", 63}}), "dimensions");
  EXPECT_EQ(refused({{"input", "a"}, {"pooling", "max"}}), "pooling");
}

}  // namespace
}  // namespace plait::test
