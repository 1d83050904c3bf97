// /v1/responses: whole and as events, continued, kept within a budget, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/response_store.h"
#include "server/responses.h"
#include "server/served.h"

namespace plait::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kTemplate =
    "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}";

Talk talker() { return {.pieces = {"Yes", ", of", " course."}, .chat_template = kTemplate}; }
Talk thinker() { return {.pieces = {"<think>", "Hm", "m.", "</think>", "Yes", ".."}, .chat_template = kTemplate}; }

class Responses : public testing::Test {
 protected:
  static Json body(Json more = Json::object()) {
    Json json = {{"input", "Well?"}, {"temperature", 0}};
    json.update(more);
    return json;
  }
  Json ask(Json more = Json::object(), int status = 200) { return served.post("/v1/responses", body(more), status); }
  std::string refused(Json more) {
    const Json answer = ask(std::move(more), 400);
    return answer["error"]["param"].get<std::string>();
  }
  std::function<void(Router&, Service&)> routes() {
    return [this](Router& router, Service& service) { add_responses_routes(router, service, store); };
  }
  ResponseStore store;
  Served served{talker(), routes()};
};

std::vector<std::string> kinds_of(const std::string& body) {
  std::vector<std::string> kinds;
  int number = 0;
  for (const auto& [name, data] : events_of(body)) {
    const Json event = Json::parse(data);
    EXPECT_EQ(event["type"], name);
    EXPECT_EQ(event["sequence_number"], number++);
    if (kinds.empty() || kinds.back() != name) kinds.push_back(name);
  }
  return kinds;
}

TEST_F(Responses, Answer) {
  const Json answer = ask({{"metadata", {{"a", "b"}}}, {"instructions", "Be brief."}});
  EXPECT_THAT(answer["id"].get<std::string>(), HasSubstr("resp_"));
  EXPECT_EQ(answer["status"], "completed");
  ASSERT_EQ(answer["output"].size(), 1u);
  EXPECT_EQ(answer["output"][0]["type"], "message");
  EXPECT_EQ(answer["output"][0]["content"][0]["text"], "Yes, of course.");
  EXPECT_EQ(answer["metadata"], Json({{"a", "b"}}));
  EXPECT_EQ(answer["usage"]["output_tokens"], 3);
  EXPECT_EQ(answer["usage"]["output_tokens_details"]["reasoning_tokens"], 0);
  const std::string prompt = "[system]Be brief.[user]Well?[assistant]";  // Without spaces a byte is a token.
  EXPECT_EQ(answer["usage"]["input_tokens"], prompt.size() - 1);         // " b" is one.
}

TEST_F(Responses, TellReasoningAndMessageAsTheyCome) {
  Served thinking(thinker(), routes());
  const std::string events = thinking.text("POST", "/v1/responses", body({{"stream", true}}).dump());
  EXPECT_THAT(
      kinds_of(events),
      ElementsAre("response.created", "response.in_progress", "response.output_item.added",
                  "response.content_part.added", "response.reasoning_text.delta", "response.reasoning_text.done",
                  "response.content_part.done", "response.output_item.done", "response.output_item.added",
                  "response.content_part.added", "response.output_text.delta", "response.output_text.done",
                  "response.content_part.done", "response.output_item.done", "response.completed"));
  const Json last = Json::parse(events_of(events).back().second)["response"];
  EXPECT_EQ(last["output"][0]["content"][0]["text"], "Hmm.");
  EXPECT_EQ(last["output"][1]["content"][0]["text"], "Yes..");
  EXPECT_EQ(last["usage"]["output_tokens_details"]["reasoning_tokens"], 4);
}

TEST_F(Responses, AreIncompleteWhereTheBoundCutThem) {
  const Json answer = ask({{"max_output_tokens", 2}});
  EXPECT_EQ(answer["status"], "incomplete");
  EXPECT_EQ(answer["incomplete_details"]["reason"], "max_output_tokens");
  EXPECT_EQ(answer["output"][0]["status"], "incomplete");
  Served thinking(thinker(), routes());
  const Json cut = thinking.post("/v1/responses", body({{"max_output_tokens", 2}}));
  ASSERT_EQ(cut["output"].size(), 1u);
  EXPECT_EQ(cut["output"][0]["type"], "reasoning");
}

TEST_F(Responses, ContinueOthersWithoutTheirInstructions) {
  const std::string first = ask({{"instructions", "Beb"}})["id"];
  const Json second = ask({{"previous_response_id", first}, {"input", "More?"}});
  const std::string prompt = "[user]Well?[assistant]Yes, of course.[user]More?[assistant]";
  EXPECT_EQ(second["usage"]["input_tokens"], prompt.size() - 2);  // " o" and " c" are one token each.
  EXPECT_EQ(second["previous_response_id"], first);
}

TEST_F(Responses, AreKeptUntilDeleted) {
  const Json made = ask();
  const std::string path = "/v1/responses/" + made["id"].get<std::string>();
  EXPECT_EQ(served.get(path), made);
  EXPECT_EQ(Json::parse(served.text("DELETE", path))["deleted"], true);
  EXPECT_EQ(served.get(path, 404)["error"]["param"], "response_id");
  served.text("DELETE", path, {}, 404);
  const Json unkept = ask({{"store", false}});
  served.get("/v1/responses/" + unkept["id"].get<std::string>(), 404);
}

TEST_F(Responses, TakeItemsOfEarlierAnswersAsInput) {
  const Json items = Json::array(
      {{{"role", "user"}, {"content", "Well?"}},
       {{"type", "reasoning"},
        {"id", "rs_1"},
        {"summary", Json::array()},
        {"content", {{{"type", "reasoning_text"}, {"text", "Hm"}}}}},
       {{"type", "message"}, {"role", "assistant"}, {"content", {{{"type", "output_text"}, {"text", "Yes"}}}}},
       {{"role", "user"}, {"content", {{{"type", "input_text"}, {"text", "More?"}}}}}});
  const std::string prompt = "[user]Well?[assistant]Yes[user]More?[assistant]";
  EXPECT_EQ(ask({{"input", items}})["usage"]["input_tokens"], prompt.size());
}

TEST_F(Responses, GiveReasoningToTheMessageRightBehindItOnly) {
  Json items = Json::parse(R"([{"type": "reasoning", "content": [{"type": "reasoning_text", "text": "Hm"}]},
                               {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}])");
  const auto read = [&] {
    Fields fields(Json({{"input", items}}));
    Json messages = Json::array();
    add_input(fields, messages);
    EXPECT_FALSE(fields.error());
    return messages;
  };
  EXPECT_FALSE(read()[1].contains("reasoning_content"));
  std::swap(items[0], items[1]);
  EXPECT_EQ(read()[1]["reasoning_content"], "Hm");
}

TEST_F(Responses, GiveLogProbabilitiesWhereAsked) {
  const Json part =
      ask({{"include", {"message.output_text.logprobs"}}, {"top_logprobs", 2}})["output"][0]["content"][0];
  ASSERT_EQ(part["logprobs"].size(), 3u);
  EXPECT_EQ(part["logprobs"][0]["token"], "Yes");
  EXPECT_EQ(part["logprobs"][0]["top_logprobs"].size(), 2u);
}

TEST_F(Responses, RefuseByName) {
  EXPECT_EQ(refused({{"tools", {{{"type", "web_search"}}}}}), "tools");
  EXPECT_EQ(refused({{"text", {{"format", {{"type", "json_schema"}}}}}}), "text.format");
  EXPECT_EQ(refused({{"previous_response_id", "resp_none"}}), "previous_response_id");
  EXPECT_EQ(refused({{"background", true}}), "background");
  EXPECT_EQ(refused({{"truncation", "auto"}}), "truncation");
  EXPECT_EQ(refused({{"include", {"reasoning.encrypted_content"}}}), "include");
  EXPECT_EQ(refused({{"reasoning", {{"summary", "auto"}}}}), "reasoning.summary");
  EXPECT_EQ(refused({{"input", nullptr}}), "input");
  EXPECT_EQ(refused({{"input", Json::array()}}), "input");
  EXPECT_EQ(refused({{"input", {{{"type", "item_reference"}, {"id", "x"}}}}}), "input[0].type");
  EXPECT_EQ(refused({{"input", {{{"role", "user"}, {"content", {{{"type", "input_image"}}}}}}}}),
            "input[0].content[0].type");
  EXPECT_EQ(refused({{"max_output_tokens", 0}}), "max_output_tokens");
  EXPECT_EQ(refused({{"user", 5}}), "user");
  EXPECT_EQ(refused({{"tool_choice", {{"type", "function"}, {"name", "f"}}}}), "tool_choice");
  EXPECT_EQ(refused({{"input", {{{"type", "function_call_output"}, {"call_id", "x"}, {"output", "y"}}}}}),
            "input[0].type");
  EXPECT_EQ(ask({{"previous_response_id", "resp_none"}}, 400)["error"]["code"], "previous_response_not_found");
  EXPECT_EQ(ask({{"input", std::string(4000, 'a')}}, 400)["error"]["code"], "context_length_exceeded");
  const Json error = ask({{"text", {{"format", {{"type", "json_object"}}}}}}, 400)["error"];
  EXPECT_THAT(error["message"].get<std::string>(), testing::StartsWith("text.format is not supported"));
}

TEST_F(Responses, ThatFailOnTheirWayAreSaidToHaveFailed) {
  Talk breaking = talker();
  breaking.breaks = true;
  Served broken(breaking, routes());
  const std::string events = broken.text("POST", "/v1/responses", body({{"stream", true}}).dump());
  EXPECT_THAT(kinds_of(events),
              ElementsAre("response.created", "response.in_progress", "response.output_item.added",
                          "response.content_part.added", "response.output_text.delta", "response.output_text.done",
                          "response.content_part.done", "response.output_item.done", "response.failed"));
  const Json failed = Json::parse(events_of(events).back().second)["response"];
  EXPECT_EQ(failed["status"], "failed");
  EXPECT_EQ(failed["error"]["code"], "server_error");
  EXPECT_EQ(failed["output"][0]["status"], "incomplete");
  EXPECT_TRUE(failed["usage"].is_null() && failed["completed_at"].is_null());
  EXPECT_EQ(broken.post("/v1/responses", body(), 500)["error"]["type"], "server_error");
}

TEST_F(Responses, NameTheirItemsAndPlacesInEveryEvent) {
  Served thinking(thinker(), routes());
  Json last;
  std::vector<std::string> ids;
  for (const auto& [name, data] : events_of(thinking.text("POST", "/v1/responses", body({{"stream", true}}).dump()))) {
    const Json event = Json::parse(data);
    if (name == "response.output_item.added") {
      EXPECT_EQ(event["item"]["status"], "in_progress");
      EXPECT_EQ(event["item"]["content"], Json::array());
      ids.push_back(event["item"]["id"]);
    }
    if (event.contains("item_id")) {
      EXPECT_EQ(event["item_id"], ids.back());
      EXPECT_EQ(event["content_index"], 0);
    }
    if (event.contains("output_index")) {
      EXPECT_EQ(event["output_index"], ids.size() - 1);
    }
    if (event.contains("response")) last = event["response"];
    if (name == "response.created") {
      EXPECT_TRUE(last["usage"].is_null() && last["completed_at"].is_null());
    }
  }
  ASSERT_EQ(last["output"].size(), ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(last["output"][i]["id"], ids[i]);
    EXPECT_EQ(last["output"][i]["status"], "completed");
  }
  EXPECT_GE(last["completed_at"], last["created_at"]);
}

TEST_F(Responses, RepeatWhatWasAskedFor) {
  const Json answer = ask({{"tool_choice", "none"}, {"parallel_tool_calls", false}, {"user", "me"}, {"top_p", 0.5}});
  EXPECT_EQ(answer["tool_choice"], "none");
  EXPECT_EQ(answer["parallel_tool_calls"], false);
  EXPECT_EQ(answer["user"], "me");
  EXPECT_EQ(answer["top_p"], 0.5);
  EXPECT_EQ(answer["temperature"], 0);
  for (const char* key : {"error", "incomplete_details", "instructions", "max_output_tokens", "previous_response_id"})
    EXPECT_TRUE(answer.at(key).is_null()) << key;
}

TEST_F(Responses, HaveNothingBelowThem) {
  const std::string path = "/v1/responses/" + ask()["id"].get<std::string>();
  EXPECT_THAT(served.text("GET", path + "/input_items", {}, 404), HasSubstr("there is no /v1/responses/"));
  EXPECT_THAT(served.text("POST", path + "/cancel", {}, 404), HasSubstr("there is no /v1/responses/"));
  served.get(path);
}

TEST(ResponseStore, GivesUpWhatWasNotUsedForLongest) {
  ResponseStore store(3 * 1024);
  for (const char* id : {"a", "b", "c"}) store.put({id, std::string(400, '.'), {}});
  EXPECT_TRUE(store.find("a"));
  store.put({"d", std::string(400, '.'), {}});
  EXPECT_TRUE(store.find("a"));
  EXPECT_FALSE(store.find("b"));
  EXPECT_TRUE(store.find("c"));
  EXPECT_TRUE(store.find("d"));
}

TEST(ResponseStore, KeepsNothingThatIsLargerThanItsBudget) {
  ResponseStore store(1024);
  store.put({"a", ".", "."});
  store.put({"b", std::string(2000, '.'), {}});
  EXPECT_FALSE(store.find("b"));
  EXPECT_TRUE(store.find("a"));
  EXPECT_TRUE(store.erase("a"));
  EXPECT_FALSE(store.erase("a"));
}

}  // namespace
}  // namespace plait::test
