// Served: a talking model behind the routes of a dialect, without a network.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "server/fake_reply.h"
#include "server/service.h"
#include "server/talking_model.h"

namespace plait::test {

using Json = nlohmann::ordered_json;

class Served {
 public:
  explicit Served(const Talk& talk, const std::function<void(Router&, Service&)>& add_routes = {},
                  EngineOptions options = {})
      : engine(open(talk, std::move(options))) {
    if (add_routes) add_routes(router, service);
  }
  ~Served() { EXPECT_EQ(engine.open_streams(), 0); }

  void ask(FakeReply& reply, std::string method, std::string path, std::string body = {}) {
    HttpRequest request;
    request.method = std::move(method);
    request.path = std::move(path);
    request.body = std::move(body);
    router.handle(request, reply);
  }
  // The whole body of the reply, which must have the status.
  std::string text(std::string method, std::string path, std::string body = {}, int status = 200) {
    FakeReply reply;
    ask(reply, std::move(method), std::move(path), body);
    EXPECT_EQ(reply.status, status) << body << "\n" << reply.body;
    return reply.body;
  }
  Json get(std::string path, int status = 200) { return Json::parse(text("GET", std::move(path), {}, status)); }
  Json post(std::string path, const Json& body, int status = 200) {
    return Json::parse(text("POST", std::move(path), body.dump(), status));
  }

  TemporaryDirectory directory;
  Engine engine;
  Metrics metrics;
  AnswerBudget answers;
  Service service{
      .engine = engine, .metrics = metrics, .answers = answers, .model_name = "talker", .model_path = "talker.gguf"};
  Router router;

 private:
  Engine open(const Talk& talk, EngineOptions options) {
    options.model = write_talking_model(directory, talk);
    options.threads = 1;
    if (!options.context) options.context = 256;
    auto opened = Engine::open(options);
    if (!opened) ADD_FAILURE() << opened.error().message;
    check(opened.has_value(), "the engine opens");
    return std::move(*opened);
  }
};

// Server-sent events: {"event": name or "", "data": ...} each; comments are left out.
inline std::vector<std::pair<std::string, std::string>> events_of(const std::string& body) {
  std::vector<std::pair<std::string, std::string>> events;
  std::string name, data;
  for (std::size_t at = 0; at < body.size();) {
    const std::size_t end = body.find('\n', at);
    const std::string line = body.substr(at, end - at);
    at = end == std::string::npos ? body.size() : end + 1;
    if (line.starts_with("event: ")) name = line.substr(7);
    if (line.starts_with("data: ")) data = line.substr(6);
    if (!line.empty() || data.empty()) continue;
    events.emplace_back(std::move(name), std::move(data));
    name.clear(), data.clear();
  }
  return events;
}

// The one choice that a client puts together from a stream of /v1/completions.
inline Json streamed_choice(const std::string& body) {
  EXPECT_TRUE(body.ends_with("data: [DONE]\n\n")) << body;
  Json all;
  for (const auto& [name, data] : events_of(body)) {
    if (data == "[DONE]") break;
    const Json part = Json::parse(data)["choices"][0];
    if (all.is_null()) {
      all = part;
      continue;
    }
    EXPECT_TRUE(all["finish_reason"].is_null()) << "nothing comes after the end";
    all["text"] = all["text"].get<std::string>() + part["text"].get<std::string>();
    all["finish_reason"] = part["finish_reason"];
    if (part["logprobs"].is_null()) continue;
    for (const auto& [key, list] : part["logprobs"].items())
      for (const Json& value : list) all["logprobs"][key].push_back(value);
  }
  return all;
}

// Lines of JSON.
inline std::vector<Json> lines_of(const std::string& body) {
  std::vector<Json> lines;
  for (std::size_t at = 0; at < body.size();) {
    const std::size_t end = std::min(body.find('\n', at), body.size());
    lines.push_back(Json::parse(body.substr(at, end - at)));
    at = end + 1;
  }
  return lines;
}

}  // namespace plait::test
