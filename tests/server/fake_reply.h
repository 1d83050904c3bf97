// FakeReply: a reply that stays in memory, for tests of handlers without a network.
#pragma once

#include <map>
#include <mutex>

#include "server/http.h"

namespace plait::test {

class FakeReply final : public Reply {
 public:
  int status = 0;
  std::string content_type, body;
  std::map<std::string, std::string> headers;

  // The client goes once the body has this many bytes.
  std::size_t leave_after = std::string::npos;

  void set_header(std::string_view name, std::string_view value) override { headers[std::string(name)] = value; }
  void send(int code, std::string_view type, std::string text) override {
    begin(code, type);
    body = std::move(text);
  }
  void begin(int code, std::string_view type) override {
    status = code;
    content_type = type;
    begun_ = true;
  }
  bool write(std::string_view bytes) override {
    if (gone()) return false;
    body += bytes;
    if (body.size() >= leave_after) leave();
    return !gone();
  }
  bool begun() const override { return begun_; }
  bool gone() const override {
    const std::lock_guard lock(mutex_);
    return gone_;
  }
  void on_gone(std::function<void()> wake) override {
    const std::lock_guard lock(mutex_);
    wake_ = std::move(wake);
    if (gone_ && wake_) wake_();
  }
  void leave() {
    const std::lock_guard lock(mutex_);
    gone_ = true;
    if (wake_) wake_();
  }

 private:
  mutable std::mutex mutex_;
  bool begun_ = false, gone_ = false;
  std::function<void()> wake_;
};

}  // namespace plait::test
