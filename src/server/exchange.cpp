// Exchange: how a reply becomes bytes, and who waits for whom.
#include "server/exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/beast/http/status.hpp>
#include <ctime>

#include "server/header_text.h"

namespace plait {
namespace {

std::string reason_of(int status) {
  namespace http = boost::beast::http;
  if (status == 499) return "Client Closed Request";
  const auto reason = http::obsolete_reason(http::int_to_status(static_cast<unsigned>(status)));
  return std::string(reason.data(), reason.size());
}

// RFC 9110, 5.6.7; strftime's names of days and months would be the locale's.
std::string date_now() {
  constexpr std::string_view kDays = "SunMonTueWedThuFriSat", kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  const std::time_t now = std::time(nullptr);
  std::tm time{};
  gmtime_r(&now, &time);
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT",
                     kDays.substr(static_cast<std::size_t>(time.tm_wday) * 3, 3), time.tm_mday,
                     kMonths.substr(static_cast<std::size_t>(time.tm_mon) * 3, 3), time.tm_year + 1900, time.tm_hour,
                     time.tm_min, time.tm_sec);
}

// A value that ends its line early would be the next header.
std::string one_line(std::string_view text) {
  std::string line(text);
  for (char& c : line) c = static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  return line;
}

}  // namespace

Exchange::Exchange(ExchangeOptions options, std::function<void()> poke)
    : http_1_1_(options.http_1_1),
      head_only_(options.head_only),
      headers_(std::move(options.headers)),
      poke_(std::move(poke)),
      keep_alive_(options.keep_alive) {}

void Exchange::set_header(std::string_view name, std::string_view value) {
  for (auto& [old_name, old_value] : headers_) {
    if (!equal_but_for_case(old_name, name)) continue;
    old_value = value;
    return;
  }
  headers_.emplace_back(name, value);
}

void Exchange::poke() {
  if (poked_) return;
  poked_ = true;
  poke_();
}

// The head goes out with what follows it. `framing`: the header that says where the body ends.
void Exchange::start(int status, std::string_view content_type, std::string_view framing) {
  begun_ = true;
  status_ = status;
  if (content_type == kEventStreamType || content_type == kJsonLinesType) {
    set_header("Cache-Control", "no-store");
    set_header("X-Accel-Buffering", "no");
  }
  std::string head = fmt::format("HTTP/1.1 {} {}\r\nDate: {}\r\n", status, reason_of(status), date_now());
  if (!content_type.empty())
    head += fmt::format("Content-Type: {}\r\nX-Content-Type-Options: nosniff\r\n", one_line(content_type));
  for (const auto& [name, value] : headers_) head += fmt::format("{}: {}\r\n", one_line(name), one_line(value));
  if (!keep_alive_) {
    head += "Connection: close\r\n";
  } else if (!http_1_1_) {
    head += "Connection: keep-alive\r\n";
  }
  head += framing;
  head += "\r\n";
  out_ += head;
  unsent_ += head.size();
}

void Exchange::send(int status, std::string_view content_type, std::string body) {
  const std::lock_guard lock(mutex_);
  if (begun_) return;
  const bool bare = status < 200 || status == 204 || status == 304;  // These have no body and say no length.
  start(status, content_type, bare ? std::string() : fmt::format("Content-Length: {}\r\n", body.size()));
  if (!head_only_ && !bare) {
    out_ += body;
    unsent_ += body.size();
  }
  poke();
}

void Exchange::begin(int status, std::string_view content_type) {
  const std::lock_guard lock(mutex_);
  if (begun_) return;
  streams_ = true;
  if (!http_1_1_) keep_alive_ = false;  // The end of the connection is the end of the body.
  start(status, content_type, http_1_1_ ? "Transfer-Encoding: chunked\r\n" : "");
  poke();
}

bool Exchange::write(std::string_view bytes) {
  std::unique_lock lock(mutex_);
  if (gone_ || bytes.empty() || head_only_ || !streams_) return !gone_;  // An empty chunk would be the last.
  const std::size_t before = out_.size();
  if (http_1_1_) {
    out_ += fmt::format("{:x}\r\n", bytes.size());
    out_ += bytes;
    out_ += "\r\n";
  } else {
    out_ += bytes;
  }
  unsent_ += out_.size() - before;
  poke();
  room_.wait(lock, [&] { return gone_ || unsent_ <= kMostUnsent; });
  return !gone_;
}

void Exchange::end(bool whole) {
  on_gone({});
  const std::lock_guard lock(mutex_);
  ended_ = true;
  whole_ = begun_ && (!streams_ || (whole && !gone_));
  if (streams_ && whole_ && http_1_1_ && !head_only_) {
    out_ += "0\r\n\r\n";
    unsent_ += 5;
  }
  poke();
}

void Exchange::on_gone(std::function<void()> wake) {
  const std::lock_guard lock(wake_mutex_);
  wake_ = std::move(wake);
  if (gone_ && wake_) std::exchange(wake_, {})();
}

void Exchange::leave() {
  {
    const std::lock_guard lock(mutex_);
    if (gone_.exchange(true)) return;
    room_.notify_all();
  }
  // Whoever sets a function later sees gone_ and calls it himself.
  const std::lock_guard lock(wake_mutex_);
  if (wake_) std::exchange(wake_, {})();
}

Exchange::Taken Exchange::take() {
  const std::lock_guard lock(mutex_);
  poked_ = false;
  return {std::exchange(out_, {}), ended_, whole_};
}

void Exchange::sent(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  unsent_ -= std::min(bytes, unsent_);
  if (unsent_ <= kMostUnsent) room_.notify_all();
}

}  // namespace plait
