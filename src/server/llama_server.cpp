// llama-server's routes about the server itself: what it is set to, what runs, whether it is well.
#include "server/llama_server.h"

#include "server/events.h"

namespace plait {
namespace {

void props(const Service& service, Reply& reply) {
  const ModelInfo& info = service.engine.info();
  Json settings = sampling_settings(info.sampling);
  settings["max_tokens"] = -1;
  settings["n_predict"] = -1;
  settings["ignore_eos"] = false;
  settings["stop"] = Json::array();
  settings["stream"] = false;
  settings["n_probs"] = 0;
  settings["timings_per_token"] = false;
  send_json(reply, {{"default_generation_settings", {{"params", std::move(settings)}, {"n_ctx", info.context}}},
                    {"total_slots", info.max_sequences},
                    {"model_alias", service.model_name},
                    {"model_path", service.model_path},
                    {"modalities", {{"vision", false}, {"video", false}, {"audio", false}}},
                    {"endpoint_slots", true},
                    {"endpoint_props", false},
                    {"endpoint_metrics", true},
                    {"chat_template", info.chat_template},
                    {"bos_token", info.bos_text},
                    {"eos_token", info.eos_text},
                    {"build_info", "plait"},
                    {"is_sleeping", false}});
}

// A slot is the place of a sequence that runs; which one runs in which is not told, only how many do.
void slots(const Service& service, const HttpRequest& request, Reply& reply) {
  const ModelInfo& info = service.engine.info();
  const int running = service.engine.stats().running;
  if (request.query.find("fail_on_no_slot=1") != std::string::npos && running >= info.max_sequences)
    return send_error(reply, Dialect::kLlamaServer, {503, "no slot is free", {}});
  Json list = Json::array();
  for (int i = 0; i < info.max_sequences; ++i)
    list.push_back({{"id", i}, {"n_ctx", info.context}, {"speculative", false}, {"is_processing", i < running}});
  send_json(reply, list);
}

}  // namespace

Json sampling_settings(const SampleOptions& sampling) {
  return {{"seed", sampling.seed},
          {"temperature", sampling.temp},
          {"top_k", sampling.top_k},
          {"top_p", sampling.top_p},
          {"min_p", sampling.min_p},
          {"repeat_last_n", sampling.repeat_last_n},
          {"repeat_penalty", sampling.repeat_penalty},
          {"presence_penalty", sampling.presence_penalty},
          {"frequency_penalty", sampling.frequency_penalty},
          {"samplers", {"penalties", "top_k", "top_p", "min_p", "temperature"}}};
}

void add_llama_server_routes(Router& router, Service& service) {
  add_completion_routes(router, service);
  add_token_routes(router, service);
  for (const char* path : {"/health", "/v1/health"})
    router.add("GET", path, [](const HttpRequest&, Reply& reply) { send_json(reply, {{"status", "ok"}}); });
  router.add("GET", "/props", [&](const HttpRequest&, Reply& reply) { props(service, reply); });
  router.add("GET", "/slots", [&](const HttpRequest& request, Reply& reply) { slots(service, request, reply); });
}

}  // namespace plait
