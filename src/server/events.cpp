// Replies of JSON and server-sent events.
#include "server/events.h"

#include <fmt/format.h>

namespace plait {

using Json = nlohmann::ordered_json;

std::string json_text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

void send_json(Reply& reply, const Json& json, int status) { reply.send(status, kJsonType, json_text(json)); }

bool EventStream::write(std::string_view text) {
  if (!reply_.begun()) {
    reply_.set_header("Cache-Control", "no-cache");
    reply_.set_header("X-Accel-Buffering", "no");  // A proxy between is not to collect them.
    reply_.begin(200, kEventStreamType);
  }
  return reply_.write(text);
}

bool EventStream::data(const Json& json) { return write(fmt::format("data: {}\n\n", json_text(json))); }

bool EventStream::event(std::string_view name, const Json& json) {
  return write(fmt::format("event: {}\ndata: {}\n\n", name, json_text(json)));
}

bool EventStream::done() { return write("data: [DONE]\n\n"); }

bool EventStream::keep_alive() { return write(": keep-alive\n\n"); }

}  // namespace plait
