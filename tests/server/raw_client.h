// RawClient: a client that sends whatever bytes a test wants, and TestServer: a server on a thread of its own.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <thread>

#include "server/server.h"

namespace plait::test {

using Clock = std::chrono::steady_clock;

inline int milliseconds_since(Clock::time_point start) {
  return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count());
}

// For what has to happen, however slow the machine is: only a hang takes so long.
constexpr int kPatienceMs = 10'000;

template <class Condition>
bool comes_true(const Condition& condition) {
  for (const auto start = Clock::now(); !condition(); std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
    if (milliseconds_since(start) > kPatienceMs) return false;
  }
  return true;
}

struct RawResponse {
  int status = 0;    // 0: none came.
  std::string head;  // With its empty line.
  std::string body;  // Without the marks of chunks.
  bool whole = false;

  bool has(std::string_view line) const;  // The head has this line, as "Connection: close".
};

class RawClient {
 public:
  // `receive_bytes`: size of the socket's buffer for what comes; 0: the system's.
  explicit RawClient(int port, int receive_bytes = 0);
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  // False: the server has closed.
  bool send(std::string_view bytes);
  RawResponse receive(int within_ms = kPatienceMs,
                      bool to_head = false);  // One response. `to_head`: to HEAD, without a body.
  RawResponse ask(std::string_view bytes) {
    send(bytes);
    return receive();
  }
  std::string receive_some(int within_ms = kPatienceMs);  // Empty: nothing came, or the end.
  bool closed_within(int ms = kPatienceMs);               // The server closes; what it says until then is dropped.
  void close_sending();                                   // FIN
  void close();                                           // FIN
  void reset();                                           // RST

 private:
  bool fill(int within_ms);
  int socket_ = -1;
  bool ended_ = false;
  std::string inbox_;
};

class TestServer {
 public:
  TestServer(ServerOptions options, Handler handler);
  ~TestServer();  // Stops at once what still runs.

  int port() const { return port_; }
  Server& server() { return *server_; }
  void join() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  Result<Server> server_;
  int port_ = 0;
  std::thread thread_;
};

inline std::string get(std::string_view path, std::string_view more = {}) {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n" + std::string(more) + "\r\n";
}

inline std::string post(std::string_view path, std::string_view body, std::string_view more = {}) {
  return "POST " + std::string(path) +
         " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + std::string(more) +
         "\r\n" + std::string(body);
}

}  // namespace plait::test
