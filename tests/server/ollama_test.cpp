// Ollama's dialect: chat and generate, whole and line by line; embeddings; the model's description; what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/ollama.h"
#include "server/served.h"

namespace plait::test {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

constexpr const char* kTemplate =
    "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% if m.reasoning_content %}({{ m.reasoning_content }})"
    "{% endif %}{% endfor %}[assistant]{% if enable_thinking is defined %}{{ '<think>' if enable_thinking else '-' }}"
    "{% endif %}{% if reasoning_effort %}{{ reasoning_effort }}{% endif %}";

Talk talker() { return {.pieces = {"Yes", ", of", " course", ".\n", "Ask."}, .chat_template = kTemplate}; }
Talk thinker() {
  return {.pieces = {"<think>", "\nHm", "m.", "\n</think>", "\n\n", "Yes", ".."}, .chat_template = kTemplate};
}

Json message(const char* role, Json content) { return {{"role", role}, {"content", std::move(content)}}; }

Json chat_body(const Json& more = Json::object()) {
  Json body = {{"model", "any:latest"},
               {"stream", false},
               {"options", {{"temperature", 0}}},
               {"messages", Json::array({message("user", "Well?")})}};
  for (const auto& [key, value] : more.items()) {
    if (key == "options" && value.is_object()) {
      body["options"].update(value);
    } else {
      body[key] = value;
    }
  }
  return body;
}

Json generate_body(const Json& more = Json::object()) {
  Json body = chat_body(more);
  body.erase("messages");
  if (!body.contains("prompt")) body["prompt"] = "Well?";
  return body;
}

class Ollama : public testing::Test {
 protected:
  Json chat(const Json& more = Json::object(), int status = 200) {
    return served.post("/api/chat", chat_body(more), status);
  }
  Json generate(const Json& more = Json::object(), int status = 200) {
    return served.post("/api/generate", generate_body(more), status);
  }
  int prompt_tokens(const Json& more) { return chat(more)["prompt_eval_count"]; }
  Served served{talker(), add_ollama_routes};
};

void expect_end(const Json& answer, const char* reason, int tokens) {
  EXPECT_EQ(answer["done"], true);
  EXPECT_EQ(answer["done_reason"], reason);
  EXPECT_EQ(answer["eval_count"], tokens);
  for (const char* key : {"total_duration", "load_duration", "prompt_eval_duration", "eval_duration"})
    EXPECT_TRUE(answer[key].is_number_integer()) << key;
  EXPECT_GT(answer["prompt_eval_duration"], 0);
  EXPECT_GE(answer["total_duration"],
            answer["prompt_eval_duration"].get<std::int64_t>() + answer["eval_duration"].get<std::int64_t>() - 2);
  EXPECT_EQ(answer["load_duration"], 0);
}

TEST_F(Ollama, Chats) {
  const Json answer = chat();
  EXPECT_EQ(answer["model"], "any:latest");
  EXPECT_THAT(answer["created_at"].get<std::string>(), MatchesRegex("....-..-..T..:..:..[.]......Z"));
  EXPECT_EQ(answer["message"], Json({{"role", "assistant"}, {"content", "Yes, of course.\nAsk."}}));
  EXPECT_EQ(answer["prompt_eval_count"], 22);  // [user]Well?[assistant]
  expect_end(answer, "stop", 5);
}

TEST_F(Ollama, Generates) {
  const Json answer = generate();
  EXPECT_EQ(answer["response"], "Yes, of course.\nAsk.");
  EXPECT_FALSE(answer.contains("message"));
  EXPECT_EQ(answer["prompt_eval_count"], 22);
  expect_end(answer, "stop", 5);
  EXPECT_EQ(generate({{"system", "Be"}})["prompt_eval_count"], 32);
  EXPECT_EQ(generate({{"raw", true}})["prompt_eval_count"], 5);
}

TEST_F(Ollama, EndsAsItsOptionsSay) {
  const Json most = chat({{"options", {{"num_predict", 2}}}});
  EXPECT_EQ(most["message"]["content"], "Yes, of");
  expect_end(most, "length", 2);
  const Json stop = chat({{"options", {{"stop", {"course"}}}}});
  EXPECT_EQ(stop["message"]["content"], "Yes, of ");
  EXPECT_EQ(stop["done_reason"], "stop");
  EXPECT_EQ(chat({{"options", {{"stop", "of"}}}})["message"]["content"], "Yes, ");
  for (const int all : {-1, -2}) expect_end(chat({{"options", {{"num_predict", all}}}}), "stop", 5);
  const Json full = chat({{"options", {{"num_ctx", 25}}}});
  EXPECT_EQ(full["message"]["content"], "Yes, of course");
  expect_end(full, "length", 3);
}

TEST_F(Ollama, TakesSamplingAndWhatMakesNoDifference) {
  const Json answer = chat({{"keep_alive", "5m"},
                            {"format", ""},
                            {"tools", Json::array()},
                            {"truncate", false},
                            {"something_else", 1},
                            {"options",
                             {{"top_k", 20},
                              {"top_p", 0.9},
                              {"min_p", 0.1},
                              {"seed", 42},
                              {"repeat_penalty", 1.1},
                              {"repeat_last_n", 33},
                              {"presence_penalty", 1.5},
                              {"frequency_penalty", 1.0},
                              {"mirostat", 0},
                              {"typical_p", 1.0},
                              {"num_keep", 0},
                              {"numa", false},
                              {"penalize_newline", true},
                              {"num_ctx", 256}}}});
  EXPECT_EQ(answer["message"]["content"], "Yes, of course.\nAsk.");
}

TEST_F(Ollama, AsksForThinkingByTheTemplate) {
  EXPECT_EQ(prompt_tokens({{"think", true}}), 22 + 7);
  EXPECT_EQ(prompt_tokens({{"think", false}}), 22 + 1);
  EXPECT_EQ(prompt_tokens({{"think", "high"}}), 22 + 7 + 4);
  EXPECT_EQ(prompt_tokens({{"think", nullptr}}), 22);
  Json thought = message("assistant", "ab");
  thought["thinking"] = "hm";
  EXPECT_EQ(prompt_tokens({{"messages", {message("user", "Well?"), thought, message("user", "a")}}}),
            22 + 11 + 2 + 4 + 7);
}

TEST(OllamaThinking, IsAFieldOfItsOwn) {
  Served served(thinker(), add_ollama_routes);
  const Json chat = served.post("/api/chat", chat_body());
  EXPECT_EQ(chat["message"], Json({{"role", "assistant"}, {"content", "Yes.."}, {"thinking", "Hmm."}}));
  const Json generate = served.post("/api/generate", generate_body());
  EXPECT_EQ(generate["response"], "Yes..");
  EXPECT_EQ(generate["thinking"], "Hmm.");
  const Json raw = served.post("/api/generate", generate_body({{"raw", true}}));
  EXPECT_EQ(raw["response"], "<think>\nHmm.\n</think>\n\nYes..");
  std::string content, thinking;
  for (const Json& line : lines_of(served.text("POST", "/api/chat", chat_body({{"stream", true}}).dump()))) {
    content += line["message"]["content"].get<std::string>();
    thinking += line["message"].value("thinking", "");
  }
  EXPECT_EQ(content, "Yes..");
  EXPECT_EQ(thinking, "Hmm.");
}

TEST_F(Ollama, StreamsWhatItWouldSayAtOnce) {
  for (const Json& more :
       {Json::object(), Json({{"options", {{"num_predict", 2}}}}), Json({{"options", {{"stop", {"course"}}}}})}) {
    for (const bool is_chat : {true, false}) {
      const Json whole = is_chat ? chat(more) : generate(more);
      Json body = is_chat ? chat_body(more) : generate_body(more);
      body.erase("stream");  // The default.
      FakeReply reply;
      served.ask(reply, "POST", is_chat ? "/api/chat" : "/api/generate", body.dump());
      EXPECT_EQ(reply.content_type, "application/x-ndjson");
      const std::vector<Json> lines = lines_of(reply.body);
      std::string text;
      for (std::size_t i = 0; i < lines.size(); ++i) {
        const Json& line = lines[i];
        EXPECT_EQ(line["model"], "any:latest");
        EXPECT_EQ(line["done"], i + 1 == lines.size());
        EXPECT_EQ(line.contains("message"), is_chat);
        text += (is_chat ? line["message"]["content"] : line["response"]).get<std::string>();
      }
      EXPECT_EQ(Json(text), is_chat ? whole["message"]["content"] : whole["response"]);
      EXPECT_EQ(lines.back()["done_reason"], whole["done_reason"]);
      EXPECT_EQ(lines.back()["eval_count"], whole["eval_count"]);
      EXPECT_EQ(lines.back()["prompt_eval_count"], whole["prompt_eval_count"]);
    }
  }
}

TEST_F(Ollama, TellsLogProbabilitiesWhereAsked) {
  const Json whole = chat({{"logprobs", true}, {"top_logprobs", 2}})["logprobs"];
  ASSERT_EQ(whole.size(), 5u);
  EXPECT_EQ(whole[0]["token"], "Yes");
  EXPECT_EQ(whole[0]["bytes"], Json({'Y', 'e', 's'}));
  EXPECT_LT(whole[0]["logprob"], 0);
  EXPECT_EQ(whole[0]["top_logprobs"].size(), 2u);
  EXPECT_FALSE(chat({{"logprobs", true}})["logprobs"][0].contains("top_logprobs"));
  Json streamed = Json::array();
  const Json body = chat_body({{"logprobs", true}, {"top_logprobs", 2}, {"stream", true}});
  for (const Json& line : lines_of(served.text("POST", "/api/chat", body.dump()))) {
    for (const Json& one : line.value("logprobs", Json::array())) streamed.push_back(one);
  }
  EXPECT_EQ(streamed, whole);
}

TEST_F(Ollama, OnlyLoadsWithoutAPrompt) {
  const Json chat_load = chat({{"messages", Json::array()}});
  EXPECT_EQ(chat_load["done"], true);
  EXPECT_EQ(chat_load["done_reason"], "load");
  EXPECT_EQ(chat_load["message"]["content"], "");
  const Json load = generate({{"prompt", ""}});
  EXPECT_EQ(load["done_reason"], "load");
  EXPECT_EQ(load["response"], "");
}

TEST_F(Ollama, TellsOfTheModel) {
  const Json model = served.get("/api/tags")["models"][0];
  EXPECT_EQ(model["name"], "talker");
  EXPECT_EQ(model["model"], "talker");
  EXPECT_GT(model["size"], 1000);
  EXPECT_EQ(model["details"]["format"], "gguf");
  EXPECT_EQ(model["details"]["family"], "llama");
  EXPECT_EQ(model["details"]["families"], Json({"llama"}));
  EXPECT_THAT(model["modified_at"].get<std::string>(), HasSubstr("T"));
  const Json running = served.get("/api/ps")["models"][0];
  EXPECT_EQ(running["name"], "talker");
  EXPECT_EQ(running["context_length"], 256);
  EXPECT_THAT(served.get("/api/version")["version"].get<std::string>(), MatchesRegex("[0-9]+[.][0-9]+[.][0-9]+"));
  const Json shown = served.post("/api/show", {{"model", "any"}, {"verbose", true}});
  EXPECT_EQ(shown["template"], kTemplate);
  EXPECT_THAT(shown["parameters"].get<std::string>(), HasSubstr("top_k 40"));
  EXPECT_EQ(shown["model_info"]["general.architecture"], "llama");
  EXPECT_EQ(shown["model_info"]["llama.context_length"], 1024);
  EXPECT_EQ(shown["model_info"]["llama.embedding_length"], 64);
  EXPECT_EQ(shown["capabilities"], Json({"completion", "thinking"}));
}

TEST(OllamaTime, IsUtcWithMicroseconds) {
  const std::chrono::system_clock::time_point time(std::chrono::microseconds(1'700'000'000'000'042));
  EXPECT_EQ(ollama_time(time), "2023-11-14T22:13:20.000042Z");
}

TEST_F(Ollama, RefusesByName) {
  const auto option = [](const char* key, Json value) { return Json({{"options", {{key, std::move(value)}}}}); };
  const std::pair<Json, const char*> cases[] = {
      {{{"format", "json"}}, "the request has format"},
      {{{"format", {{"type", "object"}}}}, "the request has format"},
      {{{"tools", {1}}}, "the request has tools"},
      {{{"images", {"x"}}}, "the request has images"},
      {{{"truncate", true}}, "truncate"},
      {{{"shift", true}}, "shift"},
      {{{"think", 5}}, "think is not true, false"},
      {{{"stream", 1}}, "stream is a number"},
      {{{"options", 1}}, "options is a number, wanted an object"},
      {{{"model", 1}}, "model is a number"},
      {{{"top_logprobs", 2}}, "top_logprobs, which needs logprobs"},
      {{{"logprobs", true}, {"top_logprobs", 21}}, "top_logprobs is 21"},
      {option("temperature", "hot"), "options.temperature is a string"},
      {option("num_predict", -3), "options.num_predict is -3"},
      {option("num_ctx", 257), "options.num_ctx is 257, and the server was started with a context of 256"},
      {option("num_ctx", 0), "options.num_ctx is 0"},
      {option("num_ctx", 10), "which leaves no room for an answer in options.num_ctx of 10"},
      {option("mirostat", 1), "mirostat"},
      {option("num_keep", 4), "num_keep"},
      {option("typical_p", 0.5), "typical_p"},
      {option("penalize_newline", false), "penalize_newline"},
      {option("stop", Json::array({""})), "stop has a string of 0 bytes"},
  };
  for (const auto& [more, text] : cases) {
    EXPECT_THAT(chat(more, 400)["error"].get<std::string>(), HasSubstr(text)) << more;
    EXPECT_THAT(generate(more, 400)["error"].get<std::string>(), HasSubstr(text)) << more;
  }
  for (const char* key : {"num_batch", "num_gpu", "main_gpu", "num_thread", "numa", "use_mmap", "use_mlock", "low_vram",
                          "f16_kv", "vocab_only", "logits_all", "embedding_only"})
    EXPECT_THAT(chat(option(key, 1), 400)["error"].get<std::string>(),
                HasSubstr(std::string("the request has options.") + key + ", which is fixed"));
}

TEST_F(Ollama, RefusesWhatOnlyOneOfThemHas) {
  const std::pair<Json, const char*> of_chat[] = {
      {{{"messages", "hi"}}, "messages is a string"},
      {{{"messages", {message("tool", "a")}}}, "messages[0].role is \"tool\""},
      {{{"messages", {{{"role", "user"}}}}}, "messages[0].content is missing"},
      {{{"messages", {{{"role", "user"}, {"content", "a"}, {"images", {"x"}}}}}}, "messages[0] has images"},
      {{{"messages", {{{"role", "assistant"}, {"content", "a"}, {"tool_calls", {1}}}}}}, "messages[0] has tool_calls"},
      {{{"messages", {message("user", std::string(400, 'a'))}}}, "leaves no room for an answer"},
      {{{"messages", {{{"role", "assistant"}, {"content", "a"}, {"thinking", 5}}}}},
       "messages[0].thinking is not a string"},
  };
  for (const auto& [more, text] : of_chat)
    EXPECT_THAT(chat(more, 400)["error"].get<std::string>(), HasSubstr(text)) << more;
  const std::pair<Json, const char*> of_generate[] = {
      {{{"prompt", 5}}, "prompt is a number"},
      {{{"system", 5}}, "system is a number"},
      {{{"suffix", "a"}}, "the request has suffix"},
      {{{"template", "a"}}, "the request has template"},
      {{{"context", {1}}}, "the request has context"},
      {{{"width", 64}}, "the request has width"},
      {{{"raw", 1}}, "raw is a number"},
      {{{"raw", true}, {"system", "a"}}, "system, which raw leaves no place for"},
      {{{"raw", true}, {"think", true}}, "think, which raw leaves no place for"},
  };
  for (const auto& [more, text] : of_generate)
    EXPECT_THAT(generate(more, 400)["error"].get<std::string>(), HasSubstr(text)) << more;
  EXPECT_THAT(served.text("POST", "/api/show", R"({"model":5})", 400), HasSubstr("model is a number"));
  EXPECT_THAT(served.text("POST", "/api/chat", "{", 400), HasSubstr("the body"));
  EXPECT_THAT(served.text("POST", "/api/pull", "{}", 404), HasSubstr("{\"error\":\"there is no /api/pull"));
}

TEST(OllamaFailure, IsTheLastLine) {
  Served served({.pieces = {"aa", "bb"}, .breaks = true}, add_ollama_routes);
  const Json whole = served.post("/api/chat", chat_body(), 500);
  EXPECT_THAT(whole["error"].get<std::string>(), HasSubstr("logit"));
  const std::vector<Json> lines = lines_of(served.text("POST", "/api/chat", chat_body({{"stream", true}}).dump()));
  EXPECT_EQ(lines.front()["message"]["content"], "aa");
  EXPECT_EQ(lines.back(), whole);
}

TEST_F(Ollama, EndsWhenTheClientLeaves) {
  for (const bool stream : {true, false}) {
    for (const bool at_once : {true, false}) {
      FakeReply reply;
      if (at_once) reply.leave();
      reply.leave_after = 150;
      served.ask(reply, "POST", "/api/chat", chat_body({{"stream", stream}}).dump());
      EXPECT_TRUE(reply.begun());
      EXPECT_EQ(served.engine.open_streams(), 0);
    }
  }
}

TEST_F(Ollama, GivesASignOfLifeWhileNothingIsSaid) {
  served.service.keep_alive_ms = 0;
  const Json body = chat_body(
      {{"stream", true}, {"options", {{"num_predict", 200}, {"ignore_eos", true}, {"logit_bias", {{"258", 100}}}}}});
  const std::vector<Json> lines = lines_of(served.text("POST", "/api/chat", body.dump()));
  EXPECT_GT(lines.size(), 1u);
  EXPECT_EQ(lines[0]["done"], false);
  EXPECT_EQ(lines.back()["eval_count"], 200);
}

}  // namespace
}  // namespace plait::test
