// LongReply: text is collected up to a size, then sent.
#include "server/long_reply.h"

#include "server/events.h"

namespace plait {
namespace {

constexpr std::size_t kPartBytes = 64 << 10;

}  // namespace

void LongReply::send() {
  if (!begun_) reply_.begin(200, kJsonType);
  begun_ = true;
  if (!text_.empty() && !reply_.gone()) reply_.write(text_);
  text_.clear();
}

void LongReply::add(std::string_view text) {
  text_ += text;
  if (text_.size() >= kPartBytes) send();
}

void LongReply::open_object(const nlohmann::ordered_json& object) {
  std::string head = json_text(object);
  head.back() = ',';
  add(object.empty() ? "{" : head);
}

void LongReply::add_list(std::size_t count, const std::function<void(std::size_t)>& entry) {
  for (std::size_t i = 0; i < count && !reply_.gone(); ++i) {
    if (i > 0) add(",");
    entry(i);
  }
}

void LongReply::add_object(const nlohmann::ordered_json& object, std::string_view open, std::size_t count,
                           const std::function<nlohmann::ordered_json(std::size_t)>& entry, std::string_view close) {
  open_object(object);
  add(open);
  add_list(count, [&](std::size_t i) { add(json_text(entry(i))); });
  add(close);
  add("}");
}

void LongReply::end() {
  if (!begun_) return reply_.send(200, kJsonType, std::move(text_));  // A short one has a length.
  send();
}

}  // namespace plait
