// One HTTP GET by libcurl: redirects are followed, and the token stays with the host that it was meant for.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace plait {

struct HttpRequest {
  std::string url;
  std::string token;       // Sent as "Authorization: Bearer" to the url's own host and port. Empty: none.
  std::uint64_t from = 0;  // The first byte wanted.
  std::string if_range;    // The whole is wanted unless the content still has this mark. Empty: no condition.
};

struct HttpAnswer {
  int status = 0;                            // Of the last response; 0: there was none.
  std::string etag;                          // Its mark, if it can be used for if_range.
  std::optional<std::uint64_t> length;       // Of the body.
  std::optional<std::uint64_t> range_begin;  // From Content-Range, as is the next.
  std::optional<std::uint64_t> total;
  std::string reason;  // What the server says about a refusal (X-Error-Message).
  // What a hub says of a stored file, on whichever response: its size, its SHA-256.
  std::optional<std::uint64_t> linked_size;
  std::string linked_etag;
};

enum class HttpEnd {
  kComplete,     // The whole body came (whatever the status).
  kStopped,      // One of the callbacks returned false.
  kBroken,       // The connection failed on the way: another try may work.
  kUnreachable,  // No connection came about at all.
};

struct HttpResult {
  HttpEnd end = HttpEnd::kUnreachable;
  HttpAnswer answer;
  std::string fault;  // libcurl's words, when the end is broken or unreachable.
};

struct HttpCallbacks {
  std::function<bool(const HttpAnswer&)> begin;     // Before the first byte of a body with status 200 or 206.
  std::function<bool(std::span<const char>)> data;  // Of such a body only.
  std::function<bool()> tick;                       // Several times a second.
};

HttpResult http_get(const HttpRequest& request, const HttpCallbacks& callbacks);

}  // namespace plait
