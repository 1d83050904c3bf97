// Errors: which are the client's and which the server's, and how each dialect says so.
#include "server/errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/response_store.h"
#include "server/served.h"

namespace plait::test {
namespace {

using testing::HasSubstr;

TEST(Errors, AreTheClientsWhereTheClientCanMendThem) {
  const auto status = [](ErrorCode code) { return http_error({code, "what was wrong"}, "prompt").status; };
  EXPECT_EQ(status(ErrorCode::kInvalidArgument), 400);
  EXPECT_EQ(status(ErrorCode::kUnsupported), 400);
  EXPECT_EQ(status(ErrorCode::kNotFound), 400);
  EXPECT_EQ(status(ErrorCode::kTooLong), 400);
  EXPECT_EQ(status(ErrorCode::kBusy), 429);
  EXPECT_EQ(status(ErrorCode::kCancelled), 499);
  for (const ErrorCode code : {ErrorCode::kCorrupt, ErrorCode::kNoMemory, ErrorCode::kIo}) EXPECT_EQ(status(code), 500);
}

TEST(Errors, NameNoFieldForAFailureOfTheServer) {
  EXPECT_EQ(http_error({ErrorCode::kInvalidArgument, "too long"}, "prompt").field, "prompt");
  EXPECT_EQ(http_error({ErrorCode::kCorrupt, "not finite"}, "prompt").field, "");
}

TEST(Errors, OfAPromptWithoutRoomHaveEachDialectsOwnName) {
  const HttpError error = http_error({ErrorCode::kTooLong, "the prompt has too many tokens"}, "prompt");
  const auto body = [&](Dialect dialect) { return Json::parse(error_body(dialect, error))["error"]; };
  EXPECT_EQ(body(Dialect::kOpenAi)["code"], "context_length_exceeded");
  EXPECT_EQ(body(Dialect::kOpenAi)["type"], "invalid_request_error");
  EXPECT_EQ(body(Dialect::kOpenAi)["param"], "prompt");
  EXPECT_EQ(body(Dialect::kAnthropic)["type"], "invalid_request_error");
  EXPECT_EQ(body(Dialect::kLlamaServer)["type"], "exceed_context_size_error");
}

TEST(Errors, OfTheServerHaveEachDialectsOwnName) {
  const auto body = [](Dialect dialect) { return Json::parse(error_body(dialect, {500, "a fault", {}}))["error"]; };
  EXPECT_EQ(body(Dialect::kOpenAi)["type"], "server_error");
  EXPECT_EQ(body(Dialect::kAnthropic)["type"], "api_error");
  EXPECT_EQ(body(Dialect::kOllama), "a fault");
  EXPECT_EQ(body(Dialect::kLlamaServer)["type"], "server_error");
  EXPECT_EQ(body(Dialect::kLlamaServer)["code"], 500);
}

TEST(Errors, QuoteNoValueOfAnyLength) {
  std::string name;
  while (name.size() < 100'000) name += "\u00e4";
  const std::string body = error_body(Dialect::kOllama, {400, "format is \"" + name + "\", wanted json", {}});
  EXPECT_LT(body.size(), 700u);
  EXPECT_THAT(body, testing::StartsWith("{\"error\":\"format is "));
  EXPECT_THAT(body, HasSubstr("\u00e4 ... \u00e4"));
  EXPECT_THAT(body, testing::EndsWith("wanted json\"}"));
}

TEST(Errors, OfAModelThatBreaksAreTheServersAtEveryPath) {
  const Talk talk{.pieces = {"aa", "bb"}, .breaks = true};
  ResponseStore store;
  Served served(talk, [&](Router& router, Service& service) {
    add_openai_routes(router, service);
    add_responses_routes(router, service, store);
    add_anthropic_routes(router, service);
    add_ollama_routes(router, service);
    add_llama_server_routes(router, service);
  });
  const Json messages = Json::parse(R"([{"role": "user", "content": "Well?"}])");
  const Json bodies = {{"/v1/chat/completions", {{"messages", messages}}},
                       {"/v1/completions", {{"prompt", "Well?"}, {"max_tokens", 50}}},
                       {"/v1/responses", {{"input", "Well?"}}},
                       {"/v1/messages", {{"messages", messages}, {"max_tokens", 50}}},
                       {"/api/chat", {{"messages", messages}, {"stream", false}}},
                       {"/api/generate", {{"prompt", "Well?"}, {"stream", false}}},
                       {"/completion", {{"prompt", "Well?"}}}};
  for (const auto& [path, body] : bodies.items()) {
    Json greedy = body;
    greedy["temperature"] = 0;
    greedy["options"] = {{"temperature", 0}};
    EXPECT_THAT(served.post(path, greedy, 500).dump(), HasSubstr("the logit of token")) << path;
  }
}

TEST(Errors, AreTheClientsWhereItsBiasLeavesNothingToSay) {
  Served served({.pieces = {"aa", "bb"}}, add_openai_routes);
  Json never = Json::object();
  for (int token = 0; token < served.engine.info().vocabulary; ++token) never[std::to_string(token)] = false;
  const Json error = served.post("/v1/completions", {{"prompt", "Well?"}, {"logit_bias", never}}, 400)["error"];
  EXPECT_EQ(error["type"], "invalid_request_error");
  EXPECT_THAT(error["message"].get<std::string>(), HasSubstr("logit_bias leaves no token"));
}

}  // namespace
}  // namespace plait::test
