// Guard: API keys, Host, Origin and CORS.
#include "server/guard.h"

#include <fmt/format.h>

#include <algorithm>

#include "server/header_text.h"

namespace plait {
namespace {

// What can be had without a key: the page, which asks for one, and what tells whether the server lives.
constexpr std::string_view kOpenPaths[] = {"/", "/favicon.ico", "/health", "/v1/health"};

// "name:8080" and "[::1]:8080" without the port.
std::string_view without_port(std::string_view host) {
  const std::size_t colon = host.find(':', host.starts_with('[') ? host.find(']') : 0);
  const bool digits =
      colon != std::string_view::npos && host.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
  return digits ? host.substr(0, colon) : host;
}

std::string_view authority_of(std::string_view origin) {
  const std::size_t at = origin.find("://");
  return at == std::string_view::npos ? std::string_view() : origin.substr(at + 3);
}

bool contains_but_for_case(const std::vector<std::string>& names, std::string_view name) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& n) { return equal_but_for_case(n, name); });
}

}  // namespace

bool equal_in_constant_time(std::string_view given, std::string_view wanted) {
  if (wanted.empty()) return false;
  unsigned differs = given.size() == wanted.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i)
    differs |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(wanted[i % wanted.size()]);
  return differs == 0;
}

Guard::Guard(const ServerOptions& options, bool loopback)
    : keys_(options.api_keys), origins_(options.cors_origins), hosts_(options.allowed_hosts), loopback_(loopback) {
  for (const std::string_view name : {"localhost", "127.0.0.1", "[::1]"}) hosts_.emplace_back(name);
  const bool plain_v6 = options.host.find(':') != std::string::npos;
  hosts_.push_back(plain_v6 ? "[" + options.host + "]" : options.host);
}

bool Guard::host_fits(std::string_view host) const {
  return contains_but_for_case(hosts_, host) || contains_but_for_case(hosts_, without_port(host));
}

bool Guard::origin_allowed(std::string_view origin) const {
  return contains_but_for_case(origins_, "*") || contains_but_for_case(origins_, origin);
}

bool Guard::key_fits(const HttpRequest& request) const {
  std::string_view given = request.header("x-api-key");
  if (given.empty()) {
    given = request.header("authorization");
    constexpr std::string_view kScheme = "bearer ";
    if (!equal_but_for_case(given.substr(0, kScheme.size()), kScheme)) return false;
    given.remove_prefix(kScheme.size());
  }
  bool fits = false;  // No early end: which of the keys it is like is nobody's business.
  for (const std::string& key : keys_) fits |= equal_in_constant_time(given, key);
  return fits;
}

Guard::Verdict Guard::check(const HttpRequest& request) const {
  Verdict verdict;
  const std::string_view host = request.header("host"), origin = request.header("origin");
  if (loopback_ && !host.empty() && !host_fits(host)) {
    verdict.error = {
        403, fmt::format("Host is {}, wanted localhost or a name that the server was told to allow", host), {}};
    return verdict;
  }
  if (!origins_.empty()) verdict.headers.emplace_back("Vary", "Origin");
  if (!origin.empty()) {
    const bool allowed = origin_allowed(origin);
    if (!allowed && !equal_but_for_case(authority_of(origin), host)) {
      verdict.error = {403, fmt::format("pages of {} are not allowed to use this server", origin), {}};
      return verdict;
    }
    if (allowed) verdict.headers.emplace_back("Access-Control-Allow-Origin", origin);
    if (allowed && request.method == "OPTIONS" && !request.header("access-control-request-method").empty()) {
      verdict.preflight = true;
      verdict.headers.emplace_back("Access-Control-Allow-Methods", "GET, HEAD, POST, DELETE, OPTIONS");
      const std::string_view asked = request.header("access-control-request-headers");
      if (!asked.empty()) verdict.headers.emplace_back("Access-Control-Allow-Headers", asked);
      if (equal_but_for_case(request.header("access-control-request-private-network"), "true"))
        verdict.headers.emplace_back("Access-Control-Allow-Private-Network", "true");
      verdict.headers.emplace_back("Access-Control-Max-Age", "600");
      return verdict;
    }
  }
  const bool open = std::find(std::begin(kOpenPaths), std::end(kOpenPaths), request.path) != std::end(kOpenPaths) ||
                    request.path.starts_with("/page/");
  if (!keys_.empty() && !open && !key_fits(request)) {
    verdict.headers.emplace_back("WWW-Authenticate", "Bearer");
    verdict.error = {401, "a valid API key is wanted, in Authorization: Bearer or in x-api-key", {}};
  }
  return verdict;
}

}  // namespace plait
