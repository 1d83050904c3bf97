// The table of routes, and ids.
#include "server/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "server/errors.h"

namespace plait {

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
  for (const Route& route : routes_) {
    if (route.path != request.path) continue;
    if (route.method == request.method) return route.handler(request, reply);
    allowed += (allowed.empty() ? "" : ", ") + route.method;
  }
  const Dialect dialect = dialect_of(request.path);
  if (allowed.empty()) return send_error(reply, dialect, {404, fmt::format("there is no {}", request.path), {}});
  reply.set_header("Allow", allowed);
  send_error(reply, dialect, {405, fmt::format("{} is answered for {} only", request.path, allowed), {}});
}

}  // namespace plait
