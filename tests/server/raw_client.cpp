// RawClient over a plain socket.
#include "server/raw_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace plait::test {

bool RawResponse::has(std::string_view line) const {
  return head.find("\r\n" + std::string(line) + "\r\n") != std::string::npos;
}

RawClient::RawClient(int port, int receive_bytes) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  if (receive_bytes > 0) setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
}

RawClient::~RawClient() { close(); }

bool RawClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

bool RawClient::fill(int within_ms) {
  pollfd asked{socket_, POLLIN, 0};
  if (ended_ || ::poll(&asked, 1, std::max(within_ms, 0)) <= 0) return false;
  char bytes[1 << 14];
  const ssize_t count = ::recv(socket_, bytes, sizeof bytes, 0);
  if (count <= 0) {
    ended_ = true;
    return false;
  }
  inbox_.append(bytes, static_cast<std::size_t>(count));
  return true;
}

std::string RawClient::receive_some(int within_ms) {
  if (inbox_.empty()) fill(within_ms);
  return std::exchange(inbox_, {});
}

RawResponse RawClient::receive(int within_ms, bool to_head) {
  const auto start = Clock::now();
  const auto more = [&] { return fill(within_ms - milliseconds_since(start)); };
  RawResponse response;
  std::size_t end = 0;
  while ((end = inbox_.find("\r\n\r\n")) == std::string::npos) {
    if (!more()) return response;
  }
  response.head = inbox_.substr(0, end + 4);
  inbox_.erase(0, end + 4);
  response.status = std::stoi(response.head.substr(9, 3));  // "HTTP/1.1 200"
  const auto take = [&](std::size_t count) {
    while (inbox_.size() < count) {
      if (!more()) return false;
    }
    response.body += inbox_.substr(0, count);
    inbox_.erase(0, count);
    return true;
  };
  const std::string_view length_name = "\r\nContent-Length: ";
  if (to_head || response.status == 204 || response.status == 100) {
    response.whole = true;
  } else if (const std::size_t at = response.head.find(length_name); at != std::string::npos) {
    response.whole = take(std::stoul(response.head.substr(at + length_name.size())));
  } else if (response.has("Transfer-Encoding: chunked")) {
    while (true) {
      std::size_t line = 0;
      while ((line = inbox_.find("\r\n")) == std::string::npos) {
        if (!more()) return response;
      }
      const std::size_t size = std::stoul(inbox_.substr(0, line), nullptr, 16);
      inbox_.erase(0, line + 2);
      if (!take(size + 2)) return response;
      response.body.resize(response.body.size() - 2);
      if (size == 0) break;
    }
    response.whole = true;
  } else {
    while (more()) {
    }
    response.body = std::exchange(inbox_, {});
    response.whole = ended_;
  }
  return response;
}

bool RawClient::closed_within(int ms) {
  const auto start = Clock::now();
  while (fill(ms - milliseconds_since(start))) inbox_.clear();
  return ended_;
}

void RawClient::close_sending() { ::shutdown(socket_, SHUT_WR); }

void RawClient::close() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
}

void RawClient::reset() {
  const linger at_once{1, 0};
  setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close();
}

TestServer::TestServer(ServerOptions options, Handler handler)
    : server_([&] {
        options.port = 0;
        return Server::open(options, std::move(handler));
      }()) {
  EXPECT_TRUE(server_.has_value());
  if (!server_) return;
  port_ = server_->port();
  thread_ = std::thread([this] { server_->run(); });
}

TestServer::~TestServer() {
  if (!server_) return;
  server_->stop();
  server_->stop();
  join();
}

}  // namespace plait::test
