// GET /v1/models and /v1/models/ID.
#include <fmt/format.h>

#include "server/openai.h"

namespace plait {
namespace {

constexpr std::string_view kOneModel = "/v1/models/*";

Json describe(const Service& service) {
  const ModelInfo& info = service.engine.info();
  return {{"id", service.model_name},
          {"object", "model"},
          {"created", service.started},
          {"owned_by", "plait"},
          {"max_model_len", info.context},
          {"meta",
           {{"n_vocab", info.vocabulary},
            {"n_ctx_train", info.trained_context},
            {"n_embd", info.width},
            {"n_params", info.parameters},
            {"size", info.weight_bytes}}}};
}

}  // namespace

void add_model_routes(Router& router, Service& service) {
  for (const char* path : {"/v1/models", "/models"}) {
    router.add("GET", path, [&service](const HttpRequest&, Reply& reply) {
      send_json(reply, {{"object", "list"}, {"data", Json::array({describe(service)})}});
    });
  }
  router.add("GET", std::string(kOneModel), [&service](const HttpRequest& request, Reply& reply) {
    const std::string name = rest_of_path(request, kOneModel);
    if (name == service.model_name) return send_json(reply, describe(service));
    send_error(reply, Dialect::kOpenAi,
               {404, fmt::format("there is no model \"{}\", only \"{}\"", name, service.model_name), "model",
                "model_not_found"});
  });
}

}  // namespace plait
