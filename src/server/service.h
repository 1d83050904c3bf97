// Service: what all handlers share; one function for each route.
#pragma once

#include <cstddef>
#include <string>

#include "plait/engine.h"
#include "server/answer_memory.h"
#include "server/http.h"
#include "server/metrics.h"

namespace plait {

struct Service {
  Engine& engine;
  Metrics& metrics;
  AnswerBudget& answers;
  std::string model_name;  // What clients call it; any name they send is answered by this model.
  std::string model_path;
  std::int64_t started = 0;   // Unix time.
  int keep_alive_ms = 15000;  // Between two signs of life on a stream of events.
};

// A request on its way: its number in ids and in the log.
std::string new_id(std::string_view prefix);  // "chatcmpl-" and 24 random letters and digits.

// A table of routes; Server asks it for each request. 404 and 405 in the dialect's shape.
class Router {
 public:
  // A path that ends in "/*" stands for all below it that have no route of their own.
  void add(std::string method, std::string path, Handler handler);
  // Calls the handler, or answers that there is none.
  void handle(const HttpRequest& request, Reply& reply) const;

 private:
  struct Route {
    std::string method, path;
    Handler handler;
  };
  std::vector<Route> routes_;
};

// What a route's "*" stands for in this path, its %-escapes decoded.
std::string rest_of_path(const HttpRequest& request, std::string_view route);

class ResponseStore;

// All routes of a service, which must outlive the router, as the store must.
void add_openai_routes(Router& router, Service& service);  // /v1/chat/completions, /v1/completions, ...
void add_responses_routes(Router& router, Service& service, ResponseStore& store);  // /v1/responses
void add_anthropic_routes(Router& router, Service& service);                        // /v1/messages
void add_ollama_routes(Router& router, Service& service);                           // /api/...
void add_llama_server_routes(Router& router, Service& service);  // /completion, /tokenize, /health, ...
void add_metrics_routes(Router& router, Service& service);       // /metrics
void add_page_routes(Router& router, Service& service);          // /

}  // namespace plait
