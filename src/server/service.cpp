// The table of routes, and ids.
#include "server/service.h"

#include <fmt/format.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <charconv>
#include <random>

#include "server/errors.h"

namespace plait {
namespace {

bool is_path(std::string_view route, std::string_view path) { return route == path; }

bool is_below(std::string_view route, std::string_view path) {
  if (!route.ends_with("/*")) return false;
  route.remove_suffix(1);
  return path.size() > route.size() && path.starts_with(route);
}

}  // namespace

namespace {

constexpr std::size_t kLargeBody = 128 << 10;

// What a large request was read into leaves holes that the allocator of each thread would keep.
void give_back([[maybe_unused]] const HttpRequest& request) {
#ifdef __GLIBC__
  if (request.body.size() > kLargeBody) malloc_trim(0);
#endif
}

}  // namespace

std::string new_id(std::string_view prefix) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  std::random_device random;
  std::string id(prefix);
  for (int i = 0; i < 24; ++i) id += kLetters[random() % kLetters.size()];
  return id;
}

void Router::add(std::string method, std::string path, Handler handler) {
  routes_.push_back({std::move(method), std::move(path), std::move(handler)});
}

void Router::handle(const HttpRequest& request, Reply& reply) const {
  std::string allowed;
  for (const auto matches : {is_path, is_below}) {
    for (const Route& route : routes_) {
      if (!matches(route.path, request.path)) continue;
      if (route.method == request.method) {
        route.handler(request, reply);
        return give_back(request);
      }
      allowed += (allowed.empty() ? "" : ", ") + route.method;
    }
    if (!allowed.empty()) break;
  }
  const Dialect dialect = dialect_of(request.path);
  if (allowed.empty()) return send_error(reply, dialect, {404, fmt::format("there is no {}", request.path), {}});
  reply.set_header("Allow", allowed);
  send_error(reply, dialect, {405, fmt::format("{} is answered for {} only", request.path, allowed), {}});
}

std::string rest_of_path(const HttpRequest& request, std::string_view route) {
  const std::string_view path = request.path;
  std::string rest;
  for (std::size_t at = std::min(route.size() - 1, path.size()); at < path.size(); ++at) {
    unsigned char byte = 0;
    const std::string_view hex = path.substr(at + 1, 2);
    if (path[at] == '%' && hex.size() == 2 && std::from_chars(hex.data(), hex.data() + 2, byte, 16).ptr == hex.end()) {
      rest += static_cast<char>(byte);
      at += 2;
    } else {
      rest += path[at];
    }
  }
  return rest;
}

}  // namespace plait
