// What the tests of HTTP ask a server for, and how they read its errors.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>

#include "server/raw_client.h"

namespace plait::test {

using std::chrono::milliseconds;

inline void answer(const HttpRequest& request, Reply& reply) {
  if (request.path == "/echo") return reply.send(200, "text/plain", request.body);
  if (request.path == "/length") return reply.send(200, "text/plain", std::to_string(request.body.size()));
  if (request.path == "/method") return reply.send(200, "text/plain", request.method + " " + request.query);
  if (request.path == "/stream") {
    reply.begin(200, kEventStreamType);
    for (const char* part : {"data: one\n\n", "", "data: two\n\n"}) reply.write(part);
    return;
  }
  if (request.path == "/header") {
    reply.set_header("X-Note", request.query + "\r\nX-Bad: 1");
    return reply.send(200, "text/plain", "");
  }
  if (request.path == "/throw") throw std::runtime_error("a fault");
  if (request.path == "/throw-late") {
    reply.begin(200, "text/plain");
    reply.write("half");
    throw std::runtime_error("a fault");
  }
  if (request.path == "/wait") {
    while (!reply.gone()) std::this_thread::sleep_for(milliseconds(5));
    return;
  }
  if (request.path != "/silent") reply.send(200, "text/plain", "hello");
}

inline ServerOptions quick() {
  ServerOptions options;
  options.read_timeout_ms = 400;
  options.body_timeout_ms = 1500;
  options.idle_timeout_ms = 600;
  return options;
}

// The sentence of an error, in OpenAI's or llama-server's shape.
inline std::string message_of(const RawResponse& response) {
  const auto json = nlohmann::json::parse(response.body, nullptr, false);
  if (json.is_discarded() || !json.contains("error") || !json["error"].contains("message")) return {};
  return json["error"]["message"].get<std::string>();
}

}  // namespace plait::test
