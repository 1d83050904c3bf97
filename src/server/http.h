// HTTP as handlers see it: a request that is there in full, and the reply to it. Names and rules: RFC 9110.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plait {

struct HttpRequest {
  std::string method;  // "GET", "POST", ...
  std::string path;    // Without the query.
  std::string query;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;

  // The first header of that name, whatever its case; empty if there is none.
  std::string_view header(std::string_view name) const;
};

// Used by one thread, that of the handler; on_gone's function is called from another. Exactly one of send() and begin()
// is called, once; what a handler begins ends when it returns.
class Reply {
 public:
  virtual ~Reply() = default;
  virtual void set_header(std::string_view name, std::string_view value) = 0;  // Before send() or begin().
  virtual void send(int status, std::string_view content_type, std::string body) = 0;
  virtual void begin(int status, std::string_view content_type) = 0;
  // Bytes of the body. Waits while much is still unsent. False: the client is gone, and nothing more need be written.
  virtual bool write(std::string_view bytes) = 0;

  virtual bool begun() const = 0;
  virtual bool gone() const = 0;  // The client has closed the connection, or the server ends.
  // `wake` is called when the client goes, at once if it is gone already; an empty one takes it back and waits for a
  // call that is under way.
  virtual void on_gone(std::function<void()> wake) = 0;
};

using Handler = std::function<void(const HttpRequest&, Reply&)>;

constexpr std::string_view kJsonType = "application/json";
constexpr std::string_view kEventStreamType = "text/event-stream";
constexpr std::string_view kJsonLinesType = "application/x-ndjson";

}  // namespace plait
