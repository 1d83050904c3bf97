// Connection: one client's connection, from request to request. A machine of states, all on the server's thread.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "server/exchange.h"
#include "server/request_reader.h"

namespace plait {

struct ServerCore;

class Connection {
 public:
  Connection(ServerCore& core, boost::asio::ip::tcp::socket socket);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start();
  void stop();    // Ends with the reply that is being made, or now if there is none.
  void cancel();  // Ends now; a handler that runs is told, and waited for.

 private:
  using Clock = std::chrono::steady_clock;
  using BoostError = boost::system::error_code;
  enum class State {
    kIdle,       // Waits for a request; not a byte of it is there.
    kReading,    // A request is on its way.
    kAnswering,  // A handler runs, or its reply is not sent yet.
    kLingering,  // All is said; waits for the client to close, so that it gets to read what was said.
    kClosed,     // The socket is closed; handlers and operations may still have to end.
  };

  // Reading: connection.cpp.
  void read();
  void on_read(const BoostError& error, std::size_t count);
  void on_end_of_input(bool half_closed);
  void watch_behind_full_inbox();
  void advance();
  bool check_header();
  void set_reading_deadline();

  // Answering: connection_reply.cpp.
  void dispatch();
  void answer();  // On a worker's thread.
  void open_exchange(bool keep_alive);
  void refuse(const HttpError& error, bool keep_alive);
  void flush();
  void on_written(const BoostError& error, std::size_t count);
  void finish_exchange();

  // Time and end: connection.cpp.
  void set_deadline(Clock::time_point time);
  void set_write_deadline();
  void on_deadline();
  bool client_takes();
  void linger();
  void close();
  void settle();  // Last in every callback: a closed connection with nothing under way is gone afterwards.

  ServerCore& core_;
  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer timer_, watch_;
  State state_ = State::kIdle;
  int pending_ = 0;  // Operations whose callback is to come.

  const std::size_t capacity_;
  // What was read and not yet used is [begin_, end_); a read that is pending writes behind it, so nothing moves
  // meanwhile.
  std::unique_ptr<char[]> inbox_;
  std::size_t begin_ = 0, end_ = 0;
  bool reading_ = false, watching_ = false, end_of_input_ = false;
  std::unique_ptr<RequestReader> reader_;  // Lives as long as the request: it holds its part of the budget.
  bool checked_ = false;                   // The header of the request went through check_header().
  Clock::time_point deadline_ = Clock::time_point::max(), reading_since_;

  std::optional<Exchange> exchange_;
  bool handler_runs_ = false, whole_ = true;
  std::vector<std::pair<std::string, std::string>> reply_headers_;
  std::string out_;  // Being sent; out_[0, sent_) is.
  std::size_t sent_ = 0;
  bool writing_ = false;
  std::size_t written_ = 0;  // By this connection, ever.
  std::size_t taken_ = 0;    // Of that, by the client, when it was last looked.
};

}  // namespace plait
