// Connection: reading, deadlines, and how it ends.
#include "server/connection.h"

#include <fmt/format.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <cstring>
#include <utility>

#include "server/server_core.h"

namespace plait {
namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds;

constexpr std::size_t kReadAhead = 4096;     // At least this much room behind what the reader may leave unused.
constexpr std::size_t kBodyRate = 64 << 10;  // Bytes of a body that buy it another second.
constexpr milliseconds kLinger{2000};
constexpr milliseconds kWatch{50};

}  // namespace

Connection::Connection(ServerCore& core, asio::ip::tcp::socket socket)
    : core_(core),
      socket_(std::move(socket)),
      timer_(core.io),
      watch_(core.io),
      capacity_(RequestReader::most_unused(core.limits) + kReadAhead),
      inbox_(std::make_unique_for_overwrite<char[]>(capacity_)) {}

void Connection::start() {
  BoostError ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  reader_ = std::make_unique<RequestReader>(core_.limits, core_.budget);
  set_deadline(Clock::now() + milliseconds(core_.options.read_timeout_ms));
  read();
}

void Connection::stop() {
  if (state_ == State::kIdle) close();
  if (exchange_) exchange_->close_after();
  settle();
}

void Connection::cancel() {
  close();
  settle();
}

// One read is pending at nearly all times, also while a handler runs: so the end of a client is seen.
void Connection::read() {
  if (reading_ || end_of_input_ || state_ == State::kClosed) return;
  end_ -= begin_;
  std::memmove(inbox_.get(), inbox_.get() + begin_, end_);
  begin_ = 0;
  if (end_ == capacity_) return watch_behind_full_inbox();
  reading_ = true;
  ++pending_;
  socket_.async_read_some(asio::buffer(inbox_.get() + end_, capacity_ - end_),
                          [this](const BoostError& error, std::size_t count) {
                            --pending_;
                            reading_ = false;
                            if (state_ != State::kClosed) on_read(error, count);
                            settle();
                          });
}

void Connection::on_read(const BoostError& error, std::size_t count) {
  if (error) return on_end_of_input(error == asio::error::eof);
  if (state_ == State::kLingering) {  // Nobody wants it.
    begin_ = end_ = 0;
    return read();
  }
  end_ += count;
  if (state_ == State::kAnswering) return read();  // The next request waits in the inbox.
  advance();
}

// A client that closes its sending side only ("half-closed") counts as gone too: it cannot be told from one that has
// closed both until something is sent. A reply that comes nevertheless is sent, in case somebody reads it.
void Connection::on_end_of_input(bool half_closed) {
  end_of_input_ = true;
  if (state_ != State::kAnswering || !half_closed) return close();
  exchange_->leave();
}

// The client has sent so many requests ahead that there is no room to see its end by reading: the system is asked.
void Connection::watch_behind_full_inbox() {
  if (watching_ || state_ != State::kAnswering) return;
  watching_ = true;
  ++pending_;
  watch_.expires_after(kWatch);
  watch_.async_wait([this](const BoostError&) {
    --pending_;
    watching_ = false;
    if (state_ == State::kAnswering) {
      pollfd asked{socket_.native_handle(), POLLRDHUP, 0};
      const bool ended = ::poll(&asked, 1, 0) > 0;
      if (ended)
        on_end_of_input((asked.revents & (POLLERR | POLLHUP)) == 0);
      else
        read();
    }
    settle();
  });
}

// Gives what is there to the reader, as far as one request goes.
void Connection::advance() {
  while (true) {
    const std::size_t used = reader_->feed({inbox_.get() + begin_, end_ - begin_});
    begin_ += used;
    if (reader_->started() && state_ == State::kIdle) {
      state_ = State::kReading;
      reading_since_ = Clock::now();
    }
    if (reader_->state() == RequestReader::State::kFault) return refuse(reader_->fault(), false);
    const bool header_there = reader_->state() != RequestReader::State::kHeader;
    if (header_there && !checked_) {
      checked_ = true;
      if (!check_header()) return;
      reading_since_ = Clock::now();
    }
    if (reader_->state() == RequestReader::State::kWhole) return dispatch();
    if (used == 0 || begin_ == end_) break;
  }
  set_reading_deadline();
  read();
}

// What can be said before the body is read is said then. False: it was, and the request goes no further.
bool Connection::check_header() {
  const bool whole = reader_->state() == RequestReader::State::kWhole;
  Guard::Verdict verdict = core_.guard.check(reader_->request());
  reply_headers_ = std::move(verdict.headers);
  if (verdict.error) {
    refuse(*verdict.error, whole);
    return false;
  }
  if (verdict.preflight) {
    open_exchange(whole);
    exchange_->send(204, {}, {});
    exchange_->end(true);
    return false;
  }
  if (reader_->wants_continue() && !whole && begin_ == end_) {
    out_ += "HTTP/1.1 100 Continue\r\n\r\n";
    flush();
  }
  return true;
}

// A header has read_timeout. So has a body, and a second more for each 64 KiB of it that have come: one that drips is
// refused soon, one that flows has body_timeout.
void Connection::set_reading_deadline() {
  if (state_ == State::kIdle) return;  // Since start() or finish_exchange().
  const ServerOptions& with = core_.options;
  if (!checked_) return set_deadline(reading_since_ + milliseconds(with.read_timeout_ms));
  const auto bought = milliseconds(reader_->body_received() * 1000 / kBodyRate);
  set_deadline(reading_since_ +
               std::min<milliseconds>(milliseconds(with.read_timeout_ms) + bought, milliseconds(with.body_timeout_ms)));
}

void Connection::set_deadline(Clock::time_point time) {
  if (time == deadline_ || state_ == State::kClosed) return;
  deadline_ = time;
  if (time == Clock::time_point::max()) {
    timer_.cancel();
    return;
  }
  ++pending_;
  timer_.expires_at(time);
  timer_.async_wait([this](const BoostError& error) {
    --pending_;
    // It may have been moved while this call was on its way.
    if (error != asio::error::operation_aborted && state_ != State::kClosed && Clock::now() >= deadline_) on_deadline();
    settle();
  });
}

void Connection::on_deadline() {
  deadline_ = Clock::time_point::max();
  if (state_ == State::kAnswering && client_takes()) return set_write_deadline();
  if (state_ != State::kReading) return close();
  refuse({408, fmt::format("the request did not come within {} ms", core_.options.read_timeout_ms), {}}, false);
}

void Connection::set_write_deadline() { set_deadline(Clock::now() + milliseconds(core_.options.write_timeout_ms)); }

// Whether the client has taken bytes since this was last asked. The system holds megabytes for it and takes more only
// once it is rid of many, so a slow client has to be seen by what it acknowledges.
bool Connection::client_takes() {
  int held = 0;
  if (::ioctl(socket_.native_handle(), SIOCOUTQ, &held) != 0) return false;
  const std::size_t taken = written_ - static_cast<std::size_t>(held);
  return std::exchange(taken_, taken) != taken;
}

// Closing while bytes from the client are unread would reset the connection, and the client might never see the reply.
void Connection::linger() {
  BoostError ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  if (end_of_input_) return close();
  state_ = State::kLingering;
  if (!reading_) begin_ = end_ = 0;
  set_deadline(Clock::now() + kLinger);
  read();
}

void Connection::close() {
  if (state_ == State::kClosed) return;
  state_ = State::kClosed;
  if (exchange_) exchange_->leave();
  BoostError ignored;
  socket_.close(ignored);
  timer_.cancel();
  watch_.cancel();
}

void Connection::settle() {
  if (state_ == State::kClosed && pending_ == 0 && !exchange_) core_.remove(*this);
}

}  // namespace plait
