// ServerCore: what the connections of a server share. All but the workers' tasks is on the one thread that runs `io`.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <unordered_map>
#include <utility>

#include "server/connection.h"
#include "server/guard.h"
#include "server/request_reader.h"
#include "server/server.h"
#include "server/workers.h"

namespace plait {

struct ServerCore {
  ServerCore(const ServerOptions& with, Handler handle, bool loopback)
      : options(with),
        limits{with.max_header_bytes, with.max_body_bytes},
        handler(std::move(handle)),
        guard(with, loopback),
        budget(with.max_bodies_bytes),
        workers(with.max_requests) {}

  void adopt(boost::asio::ip::tcp::socket socket);
  void remove(Connection& connection);  // The connection is gone when this returns.

  const ServerOptions options;
  const ReaderLimits limits;
  const Handler handler;
  const Guard guard;
  BodyBudget budget;
  int answering = 0;      // Requests whose handler has not ended.
  bool stopping = false;  // Replies end their connections.
  boost::asio::io_context io{1};
  boost::asio::steady_timer grace{io};
  std::unordered_map<Connection*, std::unique_ptr<Connection>> connections;
  Workers workers;  // Last: its threads end before anything else does.
};

}  // namespace plait
