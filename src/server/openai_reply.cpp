// ChoicesReply: chunks, progress, and the end.
#include "server/openai_reply.h"

namespace plait {

ChoicesReply::ChoicesReply(const Service& service, Reply& reply, const StreamFields& stream, std::string_view id_prefix,
                           std::string_view object)
    : reply_(reply), events_(reply), stream_(stream), head_(reply_head(service, id_prefix, object)) {}

void ChoicesReply::progress(int done, int total, Json empty_choice) {
  using std::chrono::duration_cast, std::chrono::milliseconds;
  const auto spent = duration_cast<milliseconds>(std::chrono::steady_clock::now() - start_);
  send(Json::array({std::move(empty_choice)}), nullptr,
       {{"total", total}, {"cache", 0}, {"processed", done}, {"time_ms", spent.count()}});
}

void ChoicesReply::add(const Usage& usage, bool first_of_prompt, int reasoning_tokens) {
  usage_.add(usage, first_of_prompt);
  usage_.reasoning_tokens += reasoning_tokens;
}

void ChoicesReply::send(Json choices, Json usage, Json progress) {
  Json chunk = head_;
  chunk["choices"] = std::move(choices);
  if (stream_.usage) chunk["usage"] = std::move(usage);
  if (!progress.is_null()) chunk["prompt_progress"] = std::move(progress);
  events_.data(chunk);
}

void ChoicesReply::end(const Result<void>& ran, std::size_t count,
                       const std::function<void(std::size_t, LongReply&)>& choice) {
  if (!went_well(reply_, ran)) return;
  if (stream_.on) {
    if (stream_.usage) send(Json::array(), usage_.json(), nullptr);
    events_.done();
    return;
  }
  Json body = head_;
  body["usage"] = usage_.json();
  LongReply out(reply_);
  out.open_object(body);
  out.add("\"choices\":[");
  out.add_list(count, [&](std::size_t i) { choice(i, out); });
  out.add("]}");
  out.end();
}

}  // namespace plait
