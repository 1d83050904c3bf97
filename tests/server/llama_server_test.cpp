// llama-server's dialect: /completion, tokens and text, what the server tells of itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/served.h"

namespace plait::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Talk talker() {
  return {.pieces = {"One", ", ", "two", ",\n", "caf\xc3", "\xa9.", "!!"},
          .chat_template =
              "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}"
              "{% if add_generation_prompt %}[{{ mood }}]{% endif %}"};
}
constexpr const char* kAnswer = "One, two,\ncaf\xc3\xa9.!!";

class LlamaServer : public testing::Test {
 protected:
  Json complete(Json body, int status = 200) {
    body["prompt"] = body.value("prompt", Json("Count"));
    body["temperature"] = body.value("temperature", Json(0));
    return served.post("/completion", body, status);
  }
  Served served{talker(), add_llama_server_routes};
};

TEST_F(LlamaServer, CompletesAPrompt) {
  const Json answer = complete(Json::object());
  EXPECT_EQ(answer["content"], kAnswer);
  EXPECT_EQ(answer["index"], 0);
  EXPECT_EQ(answer["tokens"], Json::array());
  EXPECT_EQ(answer["stop"], true);
  EXPECT_EQ(answer["stop_type"], "eos");
  EXPECT_EQ(answer["stopping_word"], "");
  EXPECT_EQ(answer["model"], "talker");
  EXPECT_EQ(answer["prompt"], "Count");
  EXPECT_EQ(answer["tokens_predicted"], 7);
  EXPECT_EQ(answer["tokens_evaluated"], 5);
  EXPECT_EQ(answer["tokens_cached"], 0);
  EXPECT_EQ(answer["truncated"], false);
  EXPECT_EQ(answer["has_new_line"], true);
  EXPECT_EQ(answer["timings"]["prompt_n"], 5);
  EXPECT_EQ(answer["timings"]["predicted_n"], 7);
  EXPECT_EQ(answer["timings"]["cache_n"], 0);
  for (const char* key : {"prompt_ms", "prompt_per_second", "predicted_ms", "predicted_per_second",
                          "prompt_per_token_ms", "predicted_per_token_ms"})
    EXPECT_GT(answer["timings"][key], 0) << key;
  EXPECT_FALSE(answer.contains("completion_probabilities"));
}

TEST_F(LlamaServer, SaysWhyAnAnswerEnded) {
  const Json limit = complete({{"n_predict", 2}});
  EXPECT_EQ(limit["content"], "One, ");
  EXPECT_EQ(limit["stop_type"], "limit");
  EXPECT_EQ(limit["truncated"], false);
  EXPECT_EQ(limit["has_new_line"], false);
  const Json word = complete({{"stop", {"caf", "two"}}});
  EXPECT_EQ(word["content"], "One, ");
  EXPECT_EQ(word["stop_type"], "word");
  EXPECT_EQ(word["stopping_word"], "two");
  const Json none = complete({{"n_predict", 0}});
  EXPECT_EQ(none["content"], "");
  EXPECT_EQ(none["tokens_predicted"], 0);
  const Json full = complete({{"ignore_eos", true}, {"logit_bias", Json::array({Json::array({65, 100})})}});
  EXPECT_EQ(full["stop_type"], "limit");
  EXPECT_EQ(full["truncated"], true);
}

TEST_F(LlamaServer, RepeatsWhatItWasToldToDo) {
  const Json settings = complete(
      {{"seed", 7},
       {"temperature", 0.5},
       {"top_k", 3},
       {"top_p", 0.75},
       {"min_p", 0.25},
       {"repeat_penalty", 1.5},
       {"repeat_last_n", 9},
       {"presence_penalty", 0.5},
       {"frequency_penalty", 0.25},
       {"n_predict", 1},
       {"stop", {"x"}},
       {"n_probs", 1},
       {"cache_prompt", false},
       {"logit_bias", Json::array({Json::array({65, -1.5}), Json::array({66, false})})}})["generation_settings"];
  EXPECT_EQ(settings["seed"], 7);
  EXPECT_EQ(settings["temperature"], 0.5);
  EXPECT_EQ(settings["top_k"], 3);
  EXPECT_EQ(settings["top_p"], 0.75);
  EXPECT_EQ(settings["min_p"], 0.25);
  EXPECT_EQ(settings["repeat_penalty"], 1.5);
  EXPECT_EQ(settings["repeat_last_n"], 9);
  EXPECT_EQ(settings["presence_penalty"], 0.5);
  EXPECT_EQ(settings["frequency_penalty"], 0.25);
  EXPECT_EQ(settings["n_predict"], 1);
  EXPECT_EQ(settings["stop"], Json({"x"}));
  EXPECT_EQ(settings["n_probs"], 1);
  EXPECT_EQ(settings["logit_bias"].dump(), R"([{"token":65,"bias":-1.5},{"token":66,"bias":false}])");
}

TEST_F(LlamaServer, SwitchesOffTheSamplersThatAListLeavesOut) {
  const auto settings = [&](const Json& samplers) {
    return complete({{"n_predict", 1}, {"samplers", samplers}})["generation_settings"];
  };
  const Json all = settings({"dry", "penalties", "top_k", "typ_p", "top_p", "min_p", "xtc", "temperature"});
  EXPECT_EQ(all["top_k"], 40);
  EXPECT_EQ(all["temperature"], 0);
  const Json few = settings({"top_p"});
  EXPECT_EQ(few["top_k"], 0);
  EXPECT_EQ(few["top_p"], 0.95);
  EXPECT_EQ(few["min_p"], 0);
  EXPECT_EQ(few["repeat_last_n"], 0);
  EXPECT_EQ(few["temperature"], 1);
  const Json wrong = complete({{"samplers", {"temperature", "top_k"}}}, 400);
  EXPECT_THAT(wrong["error"]["message"], HasSubstr("only this order is supported: penalties, top_k"));
}

TEST_F(LlamaServer, TellsProbabilities) {
  const Json answer = complete({{"n_probs", 2}, {"return_tokens", true}});
  EXPECT_EQ(answer["tokens"], Json({300, 301, 302, 303, 304, 305, 306}));
  const Json& list = answer["completion_probabilities"];
  ASSERT_EQ(list.size(), 7u);
  EXPECT_EQ(list[0]["id"], 300);
  EXPECT_EQ(list[0]["token"], "One");
  EXPECT_EQ(list[0]["bytes"], Json({'O', 'n', 'e'}));
  EXPECT_LT(list[0]["logprob"], 0);
  ASSERT_EQ(list[0]["top_logprobs"].size(), 2u);
  EXPECT_EQ(list[0]["top_logprobs"][0]["id"], 300);
  EXPECT_EQ(list[0]["top_logprobs"][0]["logprob"], list[0]["logprob"]);
  EXPECT_EQ(list[5]["bytes"], Json({0xa9, '.'}));
  EXPECT_EQ(list[5]["token"], "\xef\xbf\xbd.");
}

TEST_F(LlamaServer, TakesPromptsOfEveryKind) {
  const auto prompt = [&](const Json& given) { return complete({{"prompt", given}, {"n_predict", 1}}); };
  EXPECT_EQ(prompt({72, 105})["prompt"], served.engine.detokenize({72, 105}));
  EXPECT_EQ(prompt({"Hi", 72, "<|im_end|>"})["tokens_evaluated"], 4);
  EXPECT_EQ(prompt({{"prompt_string", "Hi"}})["prompt"], "Hi");
  const Json list = prompt({"Hi", Json::array({72, "o"}), {{"prompt_string", "you"}}});
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0]["prompt"], "Hi");
  EXPECT_EQ(list[2]["prompt"], "you");
  EXPECT_EQ(list[2]["index"], 2);
  ASSERT_TRUE(prompt(Json::array({"Hi"})).is_array());
}

TEST_F(LlamaServer, MakesSeveralAnswersToAPrompt) {
  const Json list = complete({{"n_cmpl", 3}, {"n_predict", 2}, {"seed", 5}});
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[1]["content"], "One, ");
  EXPECT_EQ(list[2]["generation_settings"]["seed"], 7);
}

TEST_F(LlamaServer, GivesOnlyTheFieldsThatAreNamed) {
  const Json answer =
      complete({{"response_fields", {"content", "generation_settings/top_k", "no", "timings/no", "content/no"}}});
  EXPECT_EQ(answer, Json({{"content", kAnswer}, {"top_k", 40}}));
}

TEST_F(LlamaServer, StreamsWhatItWouldSayAtOnce) {
  const Json whole = complete({{"n_probs", 1}, {"return_tokens", true}});
  FakeReply reply;
  served.ask(reply, "POST", "/completion",
             R"({"prompt":"Count","temperature":0,"n_probs":1,"stream":true,"timings_per_token":true})");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.content_type, "text/event-stream");
  std::string content;
  Json tokens = Json::array(), probabilities = Json::array(), last;
  for (const auto& [name, data] : events_of(reply.body)) {
    EXPECT_EQ(name, "");
    ASSERT_TRUE(last.is_null()) << "the last event is the last";
    const Json chunk = Json::parse(data);
    content += chunk["content"].get<std::string>();
    for (const Json& token : chunk["tokens"]) tokens.push_back(token);
    for (const Json& one : chunk.value("completion_probabilities", Json::array())) probabilities.push_back(one);
    EXPECT_EQ(chunk["index"], 0);
    EXPECT_EQ(chunk["tokens_evaluated"], 5);
    EXPECT_TRUE(chunk.contains("timings"));
    if (chunk["stop"] == true) last = chunk;
  }
  EXPECT_EQ(Json(content), whole["content"]);
  EXPECT_EQ(tokens, whole["tokens"]);
  EXPECT_EQ(probabilities, whole["completion_probabilities"]);
  for (const char* key : {"stop_type", "stopping_word", "tokens_predicted", "prompt", "has_new_line", "truncated"})
    EXPECT_EQ(last[key], whole[key]) << key;
}

TEST_F(LlamaServer, StreamsProgressWhereAsked) {
  const std::string body = served.text("POST", "/completion", R"({"prompt":"Count","stream":true,"n_predict":1,
      "return_progress":true,"sse_ping_interval":-1})");
  const auto events = events_of(body);
  ASSERT_EQ(events.size(), 3u);
  const Json progress = Json::parse(events[0].second)["prompt_progress"];
  EXPECT_EQ(progress["total"], 5);
  EXPECT_EQ(progress["processed"], 5);
  EXPECT_EQ(progress["cache"], 0);
  EXPECT_GE(progress["time_ms"], 0);
}

TEST(LlamaServerFailure, IsTheLastEvent) {
  Served served({.pieces = {"aa", "bb"}, .breaks = true}, add_llama_server_routes);
  Json body = {{"prompt", "Well?"}, {"temperature", 0}};
  const Json whole = served.post("/completion", body, 500);
  EXPECT_EQ(whole["error"]["code"], 500);
  EXPECT_EQ(whole["error"]["type"], "server_error");
  body["stream"] = true;
  const auto events = events_of(served.text("POST", "/completion", body.dump()));
  EXPECT_EQ(Json::parse(events.front().second)["content"], "aa");
  EXPECT_EQ(Json::parse(events.back().second), whole);
}

TEST_F(LlamaServer, EndsWhenTheClientLeaves) {
  for (const bool stream : {true, false}) {
    FakeReply reply;
    if (!stream) reply.leave();
    reply.leave_after = 200;
    served.ask(reply, "POST", "/completion", Json({{"prompt", "Count"}, {"stream", stream}}).dump());
    EXPECT_TRUE(reply.begun());
    EXPECT_EQ(served.engine.open_streams(), 0);
  }
}

TEST_F(LlamaServer, RefusesByName) {
  const std::pair<Json, const char*> cases[] = {
      {{{"prompt", 5}}, "prompt is neither a string nor a list of token ids and strings"},
      {{{"prompt", ""}}, "the prompt has no tokens"},
      {{{"prompt", Json::array()}}, "prompt is a list of 0, wanted 1 to 64"},
      {{{"prompt", {1, 384}}}, "prompt[1] is 384, wanted a token's id from 0 to 383"},
      {{{"prompt", {1, -1}}}, "prompt[1] is -1"},
      {{{"prompt", {1, 1.5}}}, "prompt[1] is 1.5"},
      {{{"prompt", {1, Json::object()}}}, "prompt[1] is no number"},
      {{{"prompt", {{"text", "a"}}}}, "prompt is an object without the string prompt_string"},
      {{{"prompt", {{"prompt_string", "a"}, {"multimodal_data", {"x"}}}}}, "prompt has multimodal_data"},
      {{{"prompt", std::vector<int>(300, 1)}}, "prompt has more than 256 tokens"},
      {{{"prompt", std::string(300'000, 'a')}}, "the prompt has 300000 bytes, which are at least"},
      {{{"n_predict", -2}}, "n_predict is -2"},
      {{{"n_probs", 101}}, "n_probs is 101, wanted an integer from 0 to 100"},
      {{{"n_cmpl", 65}}, "n_cmpl is 65"},
      {{{"stream", "yes"}}, "stream is a string, wanted a boolean"},
      {{{"temperature", "hot"}}, "temperature is a string"},
      {{{"stop", {""}}}, "stop has a string of 0 bytes"},
      {{{"grammar", "root ::= x"}}, "grammar"},
      {{{"json_schema", {{"type", "object"}}}}, "json_schema"},
      {{{"post_sampling_probs", true}}, "post_sampling_probs"},
      {{{"lora", {{{"id", 0}}}}}, "lora"},
      {{{"image_data", {1}}}, "image_data"},
      {{{"n_keep", 5}}, "n_keep is not supported, only 0 is accepted"},
      {{{"n_indent", 5}}, "n_indent"},
      {{{"t_max_predict_ms", 5}}, "t_max_predict_ms"},
      {{{"min_keep", 5}}, "min_keep"},
      {{{"id_slot", 0}}, "id_slot is not supported, only -1 is accepted"},
      {{{"mirostat", 2}}, "mirostat"},
      {{{"xtc_probability", 0.5}}, "xtc_probability"},
      {{{"dry_multiplier", 0.5}}, "dry_multiplier"},
      {{{"typical_p", 0.5}}, "typical_p"},
      {{{"cache_prompt", 1}}, "cache_prompt is a number, wanted a boolean"},
  };
  for (const auto& [body, message] : cases) {
    const Json error = complete(body, 400)["error"];
    EXPECT_THAT(error["message"].get<std::string>(), HasSubstr(message)) << body;
    EXPECT_EQ(error["code"], 400);
    EXPECT_EQ(error["type"], "invalid_request_error");
  }
  EXPECT_THAT(served.text("POST", "/completion", "{", 400), HasSubstr("the body"));
  EXPECT_THAT(served.text("POST", "/completion", "{}", 400), HasSubstr("prompt is missing"));
  EXPECT_THAT(served.text("GET", "/completion", "", 405), HasSubstr("POST"));
  complete({{"prompt", std::string(300, 'a')}}, 400);
}

TEST_F(LlamaServer, AcceptsWhatIsOffAndWhatItDoesNotKnow) {
  complete({{"grammar", ""},
            {"json_schema", nullptr},
            {"n_keep", 0},
            {"id_slot", -1},
            {"cache_prompt", true},
            {"mirostat", 0},
            {"typical_p", 1.0},
            {"lora", Json::array()},
            {"post_sampling_probs", false},
            {"something_else", 5}});
}

TEST_F(LlamaServer, CutsTextIntoTokens) {
  EXPECT_EQ(served.text("POST", "/tokenize", R"({"content":"a<|im_end|>"})"), R"({"tokens":[97,258]})");
  EXPECT_EQ(served.post("/tokenize", {{"content", "a<|im_end|>"}, {"parse_special", false}})["tokens"].size(), 11u);
  EXPECT_EQ(served.post("/tokenize", {{"content", ""}})["tokens"], Json::array());
  EXPECT_EQ(served.post("/tokenize", {{"content", {"a", 258}}})["tokens"], Json({97, 258}));
  const Json pieces = served.post("/tokenize", {{"content", "a\xc3\xa9"}, {"with_pieces", true}})["tokens"];
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(pieces[0], Json({{"id", 97}, {"piece", "a"}}));
  EXPECT_EQ(pieces[1]["piece"], Json({0xc3}));
  EXPECT_EQ(pieces[2]["piece"], Json({0xa9}));
}

TEST_F(LlamaServer, CutsTextAsVllmDoes) {
  const Json answer = served.post("/tokenize", {{"prompt", "a<|im_end|>"}, {"add_special_tokens", false}});
  EXPECT_EQ(answer, Json({{"count", 2}, {"max_model_len", 256}, {"tokens", {97, 258}}, {"token_strs", nullptr}}));
  const Json spelt = served.post("/tokenize", {{"prompt", "a<|im_end|>"}, {"return_token_strs", true}});
  EXPECT_EQ(spelt["token_strs"], Json({"a", "<|im_end|>"}));
  const Json chat = served.post("/tokenize", {{"messages", Json::array({{{"role", "user"}, {"content", "ab"}}})},
                                              {"add_generation_prompt", false}});
  EXPECT_EQ(chat["count"], 8);
}

TEST_F(LlamaServer, JoinsTokensToText) {
  const Json answer = served.post("/detokenize", {{"tokens", {97, 258, 304, 305}}});
  EXPECT_EQ(answer["content"], "a<|im_end|>caf\xc3\xa9.");
  EXPECT_EQ(answer["prompt"], answer["content"]);
  EXPECT_EQ(served.post("/detokenize", {{"tokens", Json::array()}})["content"], "");
}

TEST_F(LlamaServer, AppliesTheTemplate) {
  const Json messages = Json::array({{{"role", "system"}, {"content", "Be"}}, {{"role", "user"}, {"content", "Hi"}}});
  const Json answer =
      served.post("/apply-template", {{"messages", messages}, {"chat_template_kwargs", {{"mood", "calm"}}}});
  EXPECT_EQ(answer["prompt"], "[system]Be[user]Hi[calm]");
}

TEST_F(LlamaServer, RefusesWrongTokensAndTexts) {
  struct Case {
    const char* path;
    Json body;
    const char* message;
  };
  const Case cases[] = {
      {"/tokenize", Json::object(), "the request has 0 of content, prompt and messages, wanted one"},
      {"/tokenize", {{"content", "a"}, {"prompt", "a"}}, "the request has 2 of content, prompt and messages"},
      {"/tokenize", {{"content", 5}}, "content is neither a string nor a list"},
      {"/tokenize", {{"prompt", 5}}, "prompt is not a string"},
      {"/tokenize", {{"content", "a"}, {"with_pieces", "no"}}, "with_pieces is a string, wanted a boolean"},
      {"/tokenize", {{"content", std::string(600'000, 'a')}}, "content has 600000 bytes, wanted at most 524288"},
      {"/tokenize", {{"content", {"a", std::string(600'000, 'a')}}}, "content[1] has 600000 bytes"},
      {"/tokenize", {{"content", std::string(150'000, 'a')}, {"with_pieces", true}}, "wanted at most 131072"},
      {"/tokenize",
       {{"messages", {{{"role", "user"}, {"content", std::string(600'000, 'a')}}}}},
       "messages has 600008 bytes"},
      {"/detokenize", {{"tokens", std::vector<int>(140'000, 1)}}, "tokens has more than 131072 tokens"},
      {"/detokenize", {{"tokens", std::vector<int>(300'000, 1)}}, "the body has too many values"},
      {"/tokenize", {{"messages", Json::array()}}, "messages is empty"},
      {"/detokenize", Json::object(), "tokens is missing"},
      {"/detokenize", {{"tokens", "a"}}, "tokens is a string, wanted an array"},
      {"/detokenize", {{"tokens", {384}}}, "tokens[0] is 384, wanted a token's id from 0 to 383"},
      {"/apply-template", Json::object(), "messages is missing"},
      {"/apply-template", {{"messages", {{{"role", "user"}, {"content", "a"}}}}, {"tools", {1}}}, "tools"},
      {"/apply-template", {{"messages", {{{"role", "user"}}}}}, "messages[0].content is missing"},
  };
  for (const Case& c : cases)
    EXPECT_THAT(served.post(c.path, c.body, 400)["error"]["message"].get<std::string>(), HasSubstr(c.message));
}

TEST_F(LlamaServer, TellsOfItsTokenizer) {
  const Json info = served.get("/tokenizer_info");
  EXPECT_EQ(info["bos_token"], "<|endoftext|>");
  EXPECT_EQ(info["eos_token"], "<|endoftext|>");
  EXPECT_TRUE(info["pad_token"].is_null());
  EXPECT_EQ(info["chat_template"], talker().chat_template);
}

TEST_F(LlamaServer, TellsOfItself) {
  EXPECT_EQ(served.text("GET", "/health"), R"({"status":"ok"})");
  EXPECT_EQ(served.text("GET", "/v1/health"), R"({"status":"ok"})");
  const Json props = served.get("/props");
  EXPECT_EQ(props["default_generation_settings"]["n_ctx"], 256);
  EXPECT_EQ(props["default_generation_settings"]["params"]["top_k"], 40);
  EXPECT_EQ(props["total_slots"], 64);
  EXPECT_EQ(props["model_path"], "talker.gguf");
  EXPECT_EQ(props["model_alias"], "talker");
  EXPECT_EQ(props["chat_template"], talker().chat_template);
  EXPECT_EQ(props["bos_token"], "<|endoftext|>");
  EXPECT_EQ(props["eos_token"], "<|endoftext|>");
  EXPECT_TRUE(props["build_info"].is_string());
  const Json slots = served.get("/slots");
  ASSERT_EQ(slots.size(), 64u);
  EXPECT_EQ(slots[63], Json({{"id", 63}, {"n_ctx", 256}, {"speculative", false}, {"is_processing", false}}));
}

}  // namespace
}  // namespace plait::test
