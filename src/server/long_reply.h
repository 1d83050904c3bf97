// LongReply: a reply of JSON that is written in parts, so that a long one is never whole in memory.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "server/http.h"

namespace plait {

class LongReply {
 public:
  explicit LongReply(Reply& reply) : reply_(reply) {}

  void add(std::string_view text);
  // The object but for its end: a member may follow, then "}".
  void open_object(const nlohmann::ordered_json& object);
  // `count` entries with commas between them; entry(i) adds its own text.
  void add_list(std::size_t count, const std::function<void(std::size_t)>& entry);
  // The object with one more member, a list whose entries are made one by one. `open` and `close` stand around them:
  // "\"scores\":[" and "]".
  void add_object(const nlohmann::ordered_json& object, std::string_view open, std::size_t count,
                  const std::function<nlohmann::ordered_json(std::size_t)>& entry, std::string_view close);
  void end();  // Sends what is left.

 private:
  void send();

  Reply& reply_;
  std::string text_;
  bool begun_ = false;
};

}  // namespace plait
