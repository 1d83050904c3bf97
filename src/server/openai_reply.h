// ChoicesReply: how replies of OpenAI's that consist of choices are sent, in chunks or whole.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>

#include "server/long_reply.h"
#include "server/openai.h"

namespace plait {

class ChoicesReply {
 public:
  ChoicesReply(const Service& service, Reply& reply, const StreamFields& stream, std::string_view id_prefix,
               std::string_view object);

  bool begun() const { return events_.begun(); }
  void keep_alive() { events_.keep_alive(); }
  // A chunk with one choice.
  void chunk(Json choice) { send(Json::array({std::move(choice)}), nullptr, nullptr); }
  // How much of the prompt is computed, beside a choice that says nothing.
  void progress(int done, int total, Json empty_choice);
  void add(const Usage& usage, bool first_of_prompt, int reasoning_tokens = 0);
  // Sends what is left: the error, the end of the stream, or all `count` choices, each added when its turn comes.
  void end(const Result<void>& ran, std::size_t count, const std::function<void(std::size_t, LongReply&)>& choice);

 private:
  void send(Json choices, Json usage, Json progress);

  Reply& reply_;
  EventStream events_;
  const StreamFields& stream_;
  Json head_;
  UsageSum usage_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace plait
