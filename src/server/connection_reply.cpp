// Connection: from a whole request to a reply that is sent.
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <exception>

#include "server/connection.h"
#include "server/server_core.h"

namespace plait {

namespace asio = boost::asio;
using std::chrono::milliseconds;

void Connection::open_exchange(bool keep_alive) {
  ExchangeOptions with{.http_1_1 = reader_->http_1_1(),
                       .head_only = reader_->request().method == "HEAD",
                       .keep_alive = keep_alive && reader_->keep_alive() && !core_.stopping,
                       .headers = std::move(reply_headers_)};
  reply_headers_.clear();
  state_ = State::kAnswering;
  set_deadline(Clock::time_point::max());
  // Until the exchange has ended and this connection has seen it, the connection stays: no count of posts is needed.
  exchange_.emplace(std::move(with), [this] {
    asio::post(core_.io, [this] {
      flush();
      settle();
    });
  });
}

void Connection::refuse(const HttpError& error, bool keep_alive) {
  open_exchange(keep_alive);
  send_error(*exchange_, dialect_of(reader_->path()), error);
  exchange_->end(true);
  read();
}

void Connection::dispatch() {
  if (core_.answering >= core_.options.max_requests)
    return refuse({429, "as many requests are being answered as may be; try again later", {}}, true);
  open_exchange(true);
  ++core_.answering;
  handler_runs_ = true;
  if (!core_.workers.run([this] { answer(); })) {
    send_error(*exchange_, dialect_of(reader_->path()), {503, "there is no thread to answer this request", {}});
    exchange_->end(true);
  }
  read();
}

void Connection::answer() {
  bool whole = true;
  try {
    if (reader_->request().method == "HEAD") {  // As GET; the exchange leaves out the body.
      HttpRequest request = reader_->request();
      request.method = "GET";
      core_.handler(request, *exchange_);
    } else {
      core_.handler(reader_->request(), *exchange_);
    }
  } catch (const std::exception&) {
    whole = false;
  }
  if (!exchange_->begun() && !exchange_->gone())
    send_error(*exchange_, dialect_of(reader_->path()),
               {500, "the request was not answered for a fault of the server", {}});
  exchange_->end(whole);
}

// Sends what there is. One write is under way at most.
void Connection::flush() {
  if (writing_) return;
  if (sent_ == out_.size()) {
    out_.clear();
    sent_ = 0;
    bool ended = false;
    if (exchange_) {
      Exchange::Taken taken = exchange_->take();
      out_ = std::move(taken.bytes);
      ended = taken.ended;
      whole_ = taken.whole;
    }
    if (state_ == State::kClosed) out_.clear();
    if (ended && out_.empty()) return finish_exchange();
    if (out_.empty()) return;
  }
  if (state_ == State::kClosed) return;
  if (exchange_) set_write_deadline();
  writing_ = true;
  ++pending_;
  socket_.async_write_some(asio::buffer(out_.data() + sent_, out_.size() - sent_),
                           [this](const BoostError& error, std::size_t count) {
                             --pending_;
                             writing_ = false;
                             on_written(error, count);
                             settle();
                           });
}

void Connection::on_written(const BoostError& error, std::size_t count) {
  if (error) {
    close();
    sent_ = out_.size();
  } else {
    sent_ += count;
    written_ += count;
  }
  if (exchange_ && state_ == State::kAnswering) {
    exchange_->sent(count);
    set_deadline(Clock::time_point::max());
  }
  flush();
}

// The handler has ended and all of its reply is sent, or nobody is there to have it.
void Connection::finish_exchange() {
  const bool keep = exchange_->keep_alive() && whole_ && !end_of_input_ && !core_.stopping;
  if (core_.options.on_reply && exchange_->begun()) core_.options.on_reply(exchange_->status());
  if (handler_runs_) --core_.answering;
  handler_runs_ = false;
  exchange_.reset();
  reader_.reset();
  checked_ = false;
  if (state_ == State::kClosed) return;
  if (!whole_) return close();
  if (!keep) return linger();
  state_ = State::kIdle;
  reader_ = std::make_unique<RequestReader>(core_.limits, core_.budget);
  set_deadline(Clock::now() + milliseconds(core_.options.idle_timeout_ms));
  if (begin_ < end_) return advance();
  read();
}

}  // namespace plait
