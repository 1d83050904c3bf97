// Exchange: the reply to one request, between the thread that makes it and the thread that sends it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/http.h"

namespace plait {

struct ExchangeOptions {
  bool http_1_1 = true;
  bool head_only = false;  // The request is HEAD: the same headers, no body.
  bool keep_alive = true;  // As far as the client is concerned.
  std::vector<std::pair<std::string, std::string>> headers;
};

class Exchange final : public Reply {
 public:
  static constexpr std::size_t kMostUnsent = 256 << 10;  // write() waits beyond.

  // `poke` is called from the handler's thread when there is something to take(), never again before take().
  Exchange(ExchangeOptions options, std::function<void()> poke);

  // The handler's thread.
  void set_header(std::string_view name, std::string_view value) override;
  void send(int status, std::string_view content_type, std::string body) override;
  void begin(int status, std::string_view content_type) override;
  bool write(std::string_view bytes) override;
  bool begun() const override { return begun_; }
  bool gone() const override { return gone_; }
  void on_gone(std::function<void()> wake) override;
  // The last call. A reply that was begun and is not `whole` is cut off, so that nobody takes it for all there is.
  void end(bool whole);

  // The connection's thread.
  struct Taken {
    std::string bytes;
    bool ended = false;  // The handler has ended; nothing comes after these bytes.
    bool whole = false;  // With `ended`.
  };
  Taken take();
  void sent(std::size_t bytes);                // Of those taken.
  void leave();                                // The client is gone, or the server ends.
  void close_after() { keep_alive_ = false; }  // The connection ends with this reply, which says so if it is not begun.
  bool keep_alive() const { return keep_alive_; }
  int status() const { return status_; }

 private:
  void start(int status, std::string_view content_type, std::string_view framing);
  void poke();

  const bool http_1_1_, head_only_;
  std::vector<std::pair<std::string, std::string>> headers_;
  const std::function<void()> poke_;

  std::atomic<bool> begun_{false}, gone_{false}, keep_alive_;
  std::atomic<int> status_{0};
  bool streams_ = false;  // By begin().

  std::mutex mutex_;
  std::condition_variable room_;
  std::string out_;
  std::size_t unsent_ = 0;  // out_, and what was taken and is not sent.
  bool poked_ = false, ended_ = false, whole_ = false;

  std::mutex wake_mutex_;
  std::function<void()> wake_;
};

}  // namespace plait
