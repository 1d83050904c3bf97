// Fields about sampling: each under its names, over what the model recommends, within its range.
#include "server/sampling_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace plait {
namespace {

ModelInfo model() {
  ModelInfo info;
  info.vocabulary = 100;
  info.sampling.temp = 0.3;
  info.sampling.top_k = 7;
  return info;
}

Request read(const char* body) {
  Fields fields{std::string_view(body)};
  Request request;
  read_sampling(fields, model(), request);
  read_stop(fields, "stop", request);
  read_max_tokens(fields, {"max_completion_tokens", "max_tokens"}, request);
  EXPECT_FALSE(fields.error()) << fields.error()->message;
  return request;
}

std::string field_at_fault(const std::string& body) {
  Fields fields(body);
  Request request;
  read_sampling(fields, model(), request);
  read_stop(fields, "stop", request);
  read_max_tokens(fields, {"max_completion_tokens", "max_tokens"}, request);
  if (!fields.error()) return "none";
  EXPECT_THAT(fields.error()->message, testing::HasSubstr(fields.error()->field));
  return fields.error()->field;
}

TEST(SamplingFields, GoOverWhatTheModelRecommends) {
  const Request request = read(R"({"top_k": 3, "top_p": null})");
  EXPECT_EQ(request.sampling.temp, 0.3);
  EXPECT_EQ(request.sampling.top_k, 3);
  EXPECT_EQ(request.sampling.top_p, model().sampling.top_p);
  EXPECT_EQ(request.max_tokens, -1);
  EXPECT_FALSE(request.ignore_end);
}

TEST(SamplingFields, HaveTheNamesOfOpenAiAndOfOthers) {
  const Request request = read(R"({"temperature": 1.5, "top_k": -1, "top_p": 0.5, "min_p": 0.25, "repeat_penalty": 1.25,
    "presence_penalty": -2, "frequency_penalty": 2, "repeat_last_n": -1, "seed": 5, "ignore_eos": true,
    "stop": ["a", "b"], "max_tokens": 4, "typical_p": 1.0, "mirostat": 0})");
  EXPECT_EQ(request.sampling.temp, 1.5);
  EXPECT_EQ(request.sampling.top_k, -1);
  EXPECT_EQ(request.sampling.top_p, 0.5);
  EXPECT_EQ(request.sampling.min_p, 0.25);
  EXPECT_EQ(request.sampling.repeat_penalty, 1.25);
  EXPECT_EQ(request.sampling.presence_penalty, -2);
  EXPECT_EQ(request.sampling.frequency_penalty, 2);
  EXPECT_EQ(request.sampling.repeat_last_n, -1);
  EXPECT_EQ(request.sampling.seed, 5u);
  EXPECT_TRUE(request.ignore_end);
  EXPECT_THAT(request.stop, testing::ElementsAre("a", "b"));
  EXPECT_EQ(request.max_tokens, 4);
  EXPECT_EQ(read(R"({"repetition_penalty": 1.5})").sampling.repeat_penalty, 1.5);
  EXPECT_EQ(read(R"({"max_tokens": 4, "max_completion_tokens": 5})").max_tokens, 5);
  EXPECT_THAT(read(R"({"stop": "a"})").stop, testing::ElementsAre("a"));
}

TEST(SamplingFields, DrawASeedWhereNoneIsGiven) {
  EXPECT_NE(read("{}").sampling.seed, read("{}").sampling.seed);
  EXPECT_NE(read(R"({"seed": -1})").sampling.seed, read(R"({"seed": -1})").sampling.seed);
  EXPECT_EQ(read(R"({"seed": -2})").sampling.seed, read(R"({"seed": -2})").sampling.seed);
}

TEST(SamplingFields, TakeBiasesInBothForms) {
  const auto biases = read(R"({"logit_bias": {"5": -100, "6": 1.5}})").sampling.logit_bias;
  ASSERT_EQ(biases.size(), 2u);
  EXPECT_EQ(biases[0].token, 5);
  EXPECT_EQ(biases[0].bias, -100);
  EXPECT_EQ(biases[1].bias, 1.5);
  const auto pairs = read(R"({"logit_bias": [[5, false], ["6", 1]]})").sampling.logit_bias;
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].bias, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(pairs[1].token, 6);
}

TEST(SamplingFields, AreRefusedByName) {
  for (const char* key :
       {"temperature", "top_p", "min_p", "presence_penalty", "frequency_penalty", "repetition_penalty",
        "repeat_penalty", "top_k", "repeat_last_n", "seed", "max_tokens", "ignore_eos", "logit_bias", "stop"}) {
    for (const char* value : {"1e300", "{\"x\": 1}"})
      EXPECT_EQ(field_at_fault("{\"" + std::string(key) + "\": " + value + "}"), key) << value;
  }
  for (const char* body : {R"({"temperature": -0.1})", R"({"temperature": "warm"})"})
    EXPECT_EQ(field_at_fault(body), "temperature");
  EXPECT_EQ(field_at_fault(R"({"seed": 1.5})"), "seed");
  EXPECT_EQ(field_at_fault(R"({"max_tokens": -2})"), "max_tokens");
  for (const char* biases : {R"({"100": 1})", R"({"-1": 1})", R"({"x": 1})", R"({"1": 101})", R"({"1": "a"})",
                             R"([[1]])", R"([1])", R"([[1.5, 1]])", R"([[99999999999, 1]])", "3"})
    EXPECT_EQ(field_at_fault(std::string("{\"logit_bias\": ") + biases + "}"), "logit_bias") << biases;
  for (const char* key : {"mirostat", "dynatemp_range", "xtc_probability", "dry_multiplier", "min_tokens", "typical_p",
                          "tfs_z", "length_penalty", "top_n_sigma"})
    EXPECT_EQ(field_at_fault("{\"" + std::string(key) + "\": 2}"), key);
  for (const char* key : {"use_beam_search", "stop_token_ids", "bad_words", "allowed_token_ids"})
    EXPECT_EQ(field_at_fault("{\"" + std::string(key) + "\": [1]}"), key);
}

TEST(SamplingFields, RefuseStopStringsThatAreTooManyOrTooLong) {
  EXPECT_EQ(field_at_fault(Json{{"stop", std::vector<std::string>(10'000, "a")}}.dump()), "stop");
  EXPECT_EQ(field_at_fault(Json{{"stop", std::vector<std::string>(64, "a")}}.dump()), "none");
  EXPECT_EQ(field_at_fault(Json{{"stop", std::string(1025, 'a')}}.dump()), "stop");
  EXPECT_EQ(field_at_fault(R"({"stop": ""})"), "stop");
  EXPECT_EQ(field_at_fault(R"({"stop": ["a", 1]})"), "stop");
}

}  // namespace
}  // namespace plait
