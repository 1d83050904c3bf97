// Server: listens, accepts, stops.
#include "server/server.h"

#include <fmt/format.h>

#include <boost/asio/post.hpp>
#include <chrono>
#include <utility>

#include "server/server_core.h"

namespace plait {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using BoostError = boost::system::error_code;
using std::chrono::milliseconds;

constexpr milliseconds kAcceptAgain{100};  // After the system had no descriptor left, or the like.

std::string address_text(const std::string& host, int port) {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

Result<void> check_options(const ServerOptions& o) {
  const auto wrong = [](std::string_view name, auto value, std::string_view wanted) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("{} is {}, wanted {}", name, value, wanted));
  };
  // To the system an empty name is every address of the machine, which nobody asked for.
  if (o.host.empty()) return fail(ErrorCode::kInvalidArgument, "host is empty, wanted an address such as 127.0.0.1");
  if (o.port < 0 || o.port > 65535) return wrong("port", o.port, "0 to 65535");
  if (o.max_connections < 1) return wrong("max_connections", o.max_connections, "at least 1");
  if (o.max_requests < 1) return wrong("max_requests", o.max_requests, "at least 1");
  if (o.max_header_bytes < 256 || o.max_header_bytes > (1 << 20))
    return wrong("max_header_bytes", o.max_header_bytes, "256 to 1048576");
  if (o.max_body_bytes < 1) return wrong("max_body_bytes", o.max_body_bytes, "at least 1");
  if (o.max_bodies_bytes < o.max_body_bytes)
    return wrong("max_bodies_bytes", o.max_bodies_bytes, "at least max_body_bytes");
  for (const int time : {o.read_timeout_ms, o.body_timeout_ms, o.write_timeout_ms, o.idle_timeout_ms}) {
    if (time < 1) return wrong("a timeout", time, "at least 1 ms");
  }
  for (const std::string& key : o.api_keys) {
    if (key.empty()) return fail(ErrorCode::kInvalidArgument, "an API key is empty");
  }
  return {};
}

// Of a name with several addresses ("localhost") IPv4 goes first: that is where clients look first.
Result<tcp::endpoint> resolve(asio::io_context& io, const ServerOptions& options) {
  BoostError error;
  const auto found = tcp::resolver(io).resolve(options.host, std::to_string(options.port),
                                               tcp::resolver::passive | tcp::resolver::numeric_service, error);
  if (error || found.empty())
    return fail(ErrorCode::kIo, fmt::format("{} is no address of this machine: {}", options.host, error.message()));
  for (const auto& entry : found) {
    if (entry.endpoint().address().is_v4()) return entry.endpoint();
  }
  return found.begin()->endpoint();
}

Result<void> listen(tcp::acceptor& acceptor, const tcp::endpoint& at, const ServerOptions& options) {
  BoostError error;
  acceptor.open(at.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(at, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (!error) return {};
  const std::string name = address_text(options.host, options.port);
  if (error == asio::error::address_in_use)
    return fail(ErrorCode::kIo, fmt::format("{} is in use by another program; another --port is wanted", name));
  return fail(ErrorCode::kIo, fmt::format("cannot listen at {}: {}", name, error.message()));
}

}  // namespace

void ServerCore::adopt(tcp::socket socket) {
  auto made = std::make_unique<Connection>(*this, std::move(socket));
  Connection& connection = *made;
  connections.emplace(&connection, std::move(made));
  connection.start();
}

void ServerCore::remove(Connection& connection) {
  connections.erase(&connection);
  if (stopping && connections.empty()) grace.cancel();
}

struct Server::State {
  State(const ServerOptions& options, Handler handler, bool loopback)
      : core(options, std::move(handler), loopback), acceptor(core.io), again(core.io) {}

  void accept();
  void turn_away(tcp::socket socket);
  void stop();
  void cancel();

  ServerCore core;
  tcp::acceptor acceptor;
  asio::steady_timer again;
  int port = 0;
};

void Server::State::accept() {
  acceptor.async_accept([this](const BoostError& error, tcp::socket socket) {
    if (core.stopping) return;
    if (error && error != asio::error::connection_aborted) {
      again.expires_after(kAcceptAgain);
      again.async_wait([this](const BoostError&) {
        if (!core.stopping) accept();
      });
      return;
    }
    if (!error && static_cast<int>(core.connections.size()) >= core.options.max_connections) {
      turn_away(std::move(socket));
    } else if (!error) {
      core.adopt(std::move(socket));
    }
    accept();
  });
}

// Said once, as far as it can be without waiting, and closed.
void Server::State::turn_away(tcp::socket socket) {
  const std::string body =
      error_body(Dialect::kLlamaServer, {503, "the server has all the connections it may have", {}});
  const std::string reply = fmt::format(
      "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 1\r\nConnection: close\r\n"
      "Content-Length: {}\r\n\r\n{}",
      body.size(), body);
  BoostError ignored;
  socket.non_blocking(true, ignored);
  socket.write_some(asio::buffer(reply), ignored);
  socket.shutdown(tcp::socket::shutdown_send, ignored);
}

void Server::State::stop() {
  if (core.stopping) return cancel();
  core.stopping = true;
  BoostError ignored;
  acceptor.close(ignored);
  again.cancel();
  std::vector<Connection*> all;  // Those that end now leave the map.
  for (const auto& [connection, owner] : core.connections) all.push_back(connection);
  for (Connection* connection : all) connection->stop();
  if (core.connections.empty()) return;
  core.grace.expires_after(milliseconds(core.options.grace_ms));
  core.grace.async_wait([this](const BoostError& error) {
    if (error != asio::error::operation_aborted) cancel();
  });
}

void Server::State::cancel() {
  core.grace.cancel();
  std::vector<Connection*> all;
  for (const auto& [connection, owner] : core.connections) all.push_back(connection);
  for (Connection* connection : all) connection->cancel();
}

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}
Server::Server(Server&& other) noexcept = default;
Server& Server::operator=(Server&& other) noexcept = default;
Server::~Server() = default;

Result<Server> Server::open(const ServerOptions& options, Handler handler) {
  if (auto checked = check_options(options); !checked) return fail(checked.error());
  asio::io_context io;
  const Result<tcp::endpoint> at = resolve(io, options);
  if (!at) return fail(at.error());
  auto state = std::make_unique<State>(options, std::move(handler), at->address().is_loopback());
  if (auto listens = listen(state->acceptor, *at, options); !listens) return fail(listens.error());
  BoostError error;
  state->port = state->acceptor.local_endpoint(error).port();
  return Server(std::move(state));
}

int Server::port() const { return state_->port; }

std::string Server::address() const { return "http://" + address_text(state_->core.options.host, state_->port); }

void Server::run() {
  if (!state_->core.stopping) state_->accept();
  state_->core.io.run();
  state_->core.workers.join();
}

void Server::stop() {
  State* state = state_.get();
  asio::post(state->core.io, [state] { state->stop(); });
}

}  // namespace plait
