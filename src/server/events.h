// Replies of JSON, whole or as server-sent events (WHATWG HTML, "Server-sent events").
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "server/http.h"

namespace plait {

// One line; bytes that are not UTF-8 become U+FFFD.
std::string json_text(const nlohmann::ordered_json& json);

void send_json(Reply& reply, const nlohmann::ordered_json& json, int status = 200);

// Writes events. The reply begins with the first of them, so that until then an error can still have its own status.
// Functions return false when the client is gone.
class EventStream {
 public:
  explicit EventStream(Reply& reply) : reply_(reply) {}

  bool data(const nlohmann::ordered_json& json);                          // data: {...}
  bool event(std::string_view name, const nlohmann::ordered_json& json);  // event: name, and the data
  bool done();                                                            // data: [DONE]
  bool keep_alive();                                                      // A comment, which clients skip.
  bool begun() const { return reply_.begun(); }

 private:
  bool write(std::string_view text);

  Reply& reply_;
};

}  // namespace plait
