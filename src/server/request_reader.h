// RequestReader: the bytes of a connection in, a request or an error out. No sockets here; nothing is read ahead.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "server/errors.h"
#include "server/http.h"

namespace plait {

// Bytes that the bodies of all requests, and what they become, may take together; asked before they are taken. For one
// thread.
class BodyBudget {
 public:
  explicit BodyBudget(std::size_t most) : most_(most), left_(most) {}
  bool take(std::size_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }
  void give_back(std::size_t bytes) { left_ += bytes; }
  std::size_t left() const { return left_; }
  std::size_t most() const { return most_; }

 private:
  std::size_t most_, left_;
};

struct ReaderLimits {
  std::size_t header_bytes = 16 << 10;  // Request line and headers. Beyond: 431.
  std::size_t body_bytes = 2 << 20;     // Beyond: 413, as soon as it is known.
};

// About what a body takes beside itself once it is data: two bytes of "0," become a value of 16, in arrays that double.
std::size_t json_bytes(std::string_view body);

// Reads one request. What its body took of the budget is given back when the reader ends.
class RequestReader {
 public:
  enum class State {
    kHeader,  // Until the empty line.
    kBody,    // The header is there: request() is, but for its body.
    kWhole,
    kFault,  // fault() says why. The connection cannot be read on.
  };
  // The longest run of bytes that feed() leaves unused while it asks for more.
  static std::size_t most_unused(const ReaderLimits& limits);

  RequestReader(const ReaderLimits& limits, BodyBudget& budget);
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;
  ~RequestReader();

  // Takes bytes, says how many; the others are to be given again, with more behind them. Stops behind the header, once,
  // and behind the request.
  std::size_t feed(std::string_view bytes);

  State state() const { return state_; }
  bool started() const { return started_; }  // A byte of the request is there.
  const HttpRequest& request() const { return request_; }
  std::string_view path() const { return path_; }  // As soon as it is known, also after a fault.
  bool http_1_1() const { return http_1_1_; }
  bool keep_alive() const { return keep_alive_; }
  bool wants_continue() const { return wants_continue_; }  // Sends its body once it is told to.
  std::size_t body_received() const;
  const HttpError& fault() const { return fault_; }

 private:
  struct Parser;
  void take_header();
  void take_body();
  void fail_with(int status, std::string message);

  ReaderLimits limits_;
  BodyBudget& budget_;
  std::unique_ptr<Parser> parser_;
  State state_ = State::kHeader;
  bool started_ = false, http_1_1_ = true, keep_alive_ = false, wants_continue_ = false;
  std::size_t header_bytes_ = 0;
  HttpRequest request_;
  std::string path_;
  HttpError fault_;
};

}  // namespace plait
