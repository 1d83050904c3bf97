// What OpenAI's endpoints have in common.
#include "server/openai.h"

#include <fmt/format.h>

#include <chrono>

#include "server/sampling_fields.h"

namespace plait {

StreamFields read_stream(Fields& fields) {
  StreamFields stream;
  stream.on = fields.boolean("stream").value_or(false);
  stream.progress = fields.boolean("return_progress").value_or(false);
  const Json* options = fields.object("stream_options");
  if (options == nullptr) return stream;
  if (!stream.on) fields.fault("stream_options", "stream_options is given, and stream is not true");
  Fields inner(*options, "stream_options.");
  stream.usage = inner.boolean("include_usage").value_or(false);
  inner.refuse({"include_obfuscation"});
  if (inner.error()) fields.fault(inner.error()->field, inner.error()->message);
  return stream;
}

void refuse_openai(Fields& fields) {
  fields.string("model");  // Any: there is one model.
  fields.refuse({"tools", "functions", "audio", "prediction", "grammar", "json_schema", "guided_json", "guided_regex",
                 "guided_choice", "guided_grammar", "structured_outputs", "chat_template", "documents", "lora"});
  if (fields.any("web_search_options") != nullptr)  // Even an empty object asks for it.
    fields.fault("web_search_options", "the request has web_search_options, which is not supported");
  refuse_unless(fields, "modalities", Json::array({"text"}));
  refuse_unless(fields, "verbosity", "medium");
  const auto tier = fields.string("service_tier");
  if (tier && *tier != "auto" && *tier != "default")
    fields.fault("service_tier", fmt::format("service_tier is \"{}\", only auto and default are accepted", *tier));
}

void refuse_formats(Fields& fields, std::string_view key) {
  const Json* format = fields.object(key);
  if (format == nullptr) return;
  const auto type = format->find("type");
  if (type == format->end() || *type != "text")
    fields.fault(key, fmt::format("{} is not supported, only {{\"type\": \"text\"}} is accepted", fields.name(key)));
}

void read_effort(Fields& fields, std::string_view key, const ModelInfo& model, Json& variables) {
  const auto effort = fields.string(key);
  if (!effort) return;
  const auto template_has = [&](std::string_view name) { return model.chat_template.find(name) != std::string::npos; };
  if (*effort == "none" && template_has("enable_thinking")) {
    variables["enable_thinking"] = false;
  } else if (template_has("reasoning_effort")) {
    variables["reasoning_effort"] = *effort;
  } else {
    fields.fault(key, fmt::format("{} is \"{}\", which the chat template of this model does not support",
                                  fields.name(key), *effort));
  }
}

void UsageSum::add(const Usage& usage, bool first_of_prompt) {
  generated_tokens += usage.generated_tokens;
  if (!first_of_prompt) return;
  prompt_tokens += usage.prompt_tokens;
  reused_tokens += usage.reused_tokens;
}

Json UsageSum::json() const {
  return {{"prompt_tokens", prompt_tokens},
          {"completion_tokens", generated_tokens},
          {"total_tokens", prompt_tokens + generated_tokens},
          {"prompt_tokens_details", {{"cached_tokens", reused_tokens}}},
          {"completion_tokens_details", {{"reasoning_tokens", reasoning_tokens}}}};
}

std::int64_t unix_time() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

std::string fingerprint(const ModelInfo& model) {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a.
  for (const char byte : fmt::format("{} {} {} {} {}", model.architecture, model.name, model.parameters,
                                     model.weight_bytes, model.activations))
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  return fmt::format("fp_{:010x}", hash >> 24);
}

Json reply_head(const Service& service, std::string_view id_prefix, std::string_view object) {
  return {{"id", new_id(id_prefix)},
          {"object", object},
          {"created", unix_time()},
          {"model", service.model_name},
          {"system_fingerprint", fingerprint(service.engine.info())}};
}

std::string_view finish_name(const Event& finish) { return finish.finish == FinishReason::kStop ? "stop" : "length"; }

bool went_well(Reply& reply, const Result<void>& ran) {
  if (ran && !reply.gone()) return true;
  const HttpError error = ran ? HttpError{503, "the server is stopping", {}} : http_error(ran.error());
  if (!reply.begun()) {
    send_error(reply, Dialect::kOpenAi, error);
  } else if (!reply.gone()) {
    reply.write(fmt::format("data: {}\n\n", error_body(Dialect::kOpenAi, error)));
  }
  return false;
}

void add_openai_routes(Router& router, Service& service) {
  add_chat_routes(router, service);
  add_openai_completion_routes(router, service);
  add_model_routes(router, service);
  add_embedding_routes(router, service);
}

}  // namespace plait
