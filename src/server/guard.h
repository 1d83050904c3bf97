// Guard: who may ask. API keys, and whose pages may reach this server from a browser.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/errors.h"
#include "server/http.h"
#include "server/server.h"

namespace plait {

// Takes as long for a key that is nearly right as for any other of its length.
bool equal_in_constant_time(std::string_view given, std::string_view wanted);

class Guard {
 public:
  struct Verdict {
    std::optional<HttpError> error;
    bool preflight = false;  // A browser asks what a page may do: 204 with `headers` is the whole answer.
    std::vector<std::pair<std::string, std::string>> headers;  // To be sent with any answer.
  };

  // `loopback`: the address listened at cannot be reached from other machines. Then only names of this machine may
  // stand in Host: a page elsewhere whose name was made to point here (DNS rebinding) sends its own.
  Guard(const ServerOptions& options, bool loopback);
  Verdict check(const HttpRequest& request) const;

 private:
  bool host_fits(std::string_view host) const;
  bool origin_allowed(std::string_view origin) const;
  bool key_fits(const HttpRequest& request) const;

  std::vector<std::string> keys_, origins_, hosts_;
  bool loopback_;
};

}  // namespace plait
