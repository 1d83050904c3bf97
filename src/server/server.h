// Server: HTTP/1.1 on one thread of Asio for all connections, and a thread for each request that is being answered.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "plait/result.h"
#include "server/http.h"

namespace plait {

struct ServerOptions {
  std::string host = "127.0.0.1";
  int port = 8080;                         // 0: any that is free.
  std::vector<std::string> api_keys;       // Empty: none is asked for.
  std::vector<std::string> cors_origins;   // "*" or origins; empty: other sites' pages are refused.
  std::vector<std::string> allowed_hosts;  // More names that a Host header may have on a loopback address.
  int max_connections = 1024;
  int max_requests = 320;                   // Being answered at once; beyond: 429.
  std::size_t max_header_bytes = 16 << 10;  // Beyond: 431.
  std::size_t max_body_bytes = 2 << 20;     // Beyond: 413.
  std::size_t max_bodies_bytes = 16 << 20;  // Of all requests, and what they become; beyond: 429.
  // For a whole header, so that a slow client has its answer within ten seconds; and for a body, which has a second
  // more for each 64 KiB of it that have come.
  int read_timeout_ms = 9'000;
  int body_timeout_ms = 60'000;              // For a whole body, however it comes.
  int write_timeout_ms = 30'000;             // Without a byte taken by the client.
  int idle_timeout_ms = 60'000;              // Between two requests of a connection.
  int grace_ms = 10'000;                     // After stop(), before what runs is cancelled.
  std::function<void(int status)> on_reply;  // Called for each reply, on the server's thread.
};

class Server {
 public:
  // Listens. Errors: kIo naming the address where it cannot ("... is in use"), kInvalidArgument for options.
  static Result<Server> open(const ServerOptions& options, Handler handler);
  Server(Server&& other) noexcept;
  Server& operator=(Server&& other) noexcept;
  ~Server();

  int port() const;
  std::string address() const;  // "http://127.0.0.1:8080"
  void run();                   // Serves until stop(); returns when all handlers have.
  // From any thread: accepts no more, lets requests finish for grace_ms, then cancels them. A second call cancels at
  // once.
  void stop();

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace plait
