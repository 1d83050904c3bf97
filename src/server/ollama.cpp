// Ollama's routes about the model that is there.
#include "server/ollama.h"

#include <fmt/format.h>

#include <ctime>
#include <filesystem>
#include <system_error>

#include "server/events.h"

namespace plait {
namespace {

namespace fs = std::filesystem;

// Whose API this is; clients ask, to know what they may use.
constexpr const char* kApiVersion = "0.12.0";
constexpr const char* kNever = "9999-12-31T23:59:59Z";  // The model stays.

// "134.5M", "8.0B"
std::string parameter_size(std::int64_t parameters) {
  const auto count = static_cast<double>(parameters);
  if (count >= 1e9) return fmt::format("{:.1f}B", count / 1e9);
  if (count >= 1e6) return fmt::format("{:.1f}M", count / 1e6);
  return fmt::format("{:.1f}K", count / 1e3);
}

Json details(const ModelInfo& info) {
  return {{"parent_model", ""},
          {"format", "gguf"},
          {"family", info.architecture},
          {"families", {info.architecture}},
          {"parameter_size", parameter_size(info.parameters)},
          {"quantization_level", "unknown"}};
}

std::uint64_t size_of(const Service& service) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(service.model_path, error);
  return error ? service.engine.info().weight_bytes : bytes;
}

std::string modified_at(const Service& service) {
  std::error_code error;
  const auto written = fs::last_write_time(service.model_path, error);
  if (error) return ollama_time(std::chrono::system_clock::time_point(std::chrono::seconds(service.started)));
  return ollama_time(
      std::chrono::time_point_cast<std::chrono::system_clock::duration>(std::chrono::file_clock::to_sys(written)));
}

void tags(const Service& service, Reply& reply) {
  const Json model = {{"name", service.model_name},
                      {"model", service.model_name},
                      {"modified_at", modified_at(service)},
                      {"size", size_of(service)},
                      {"digest", ""},
                      {"details", details(service.engine.info())}};
  send_json(reply, {{"models", Json::array({model})}});
}

void ps(const Service& service, Reply& reply) {
  const Json model = {{"name", service.model_name},
                      {"model", service.model_name},
                      {"size", service.engine.info().weight_bytes},
                      {"digest", ""},
                      {"details", details(service.engine.info())},
                      {"expires_at", kNever},
                      {"size_vram", 0},
                      {"context_length", service.engine.info().context}};
  send_json(reply, {{"models", Json::array({model})}});
}

std::string parameters(const SampleOptions& sampling) {
  return fmt::format("temperature {}\ntop_k {}\ntop_p {}\nmin_p {}\nrepeat_penalty {}\nrepeat_last_n {}", sampling.temp,
                     sampling.top_k, sampling.top_p, sampling.min_p, sampling.repeat_penalty, sampling.repeat_last_n);
}

bool reasons(const ModelInfo& info) {
  return info.chat_template.find("enable_thinking") != std::string::npos ||
         info.chat_template.find("<think>") != std::string::npos;
}

void show(const Service& service, const HttpRequest& request, Reply& reply) {
  Fields fields(request.body);
  fields.string("model");  // Whatever the name, this is the model.
  fields.string("name");
  fields.boolean("verbose");
  fields.refuse({"system", "template", "options"});
  if (fields.error()) return send_error(reply, Dialect::kOllama, *fields.error());
  const ModelInfo& info = service.engine.info();
  Json capabilities = {"completion"};
  if (reasons(info)) capabilities.push_back("thinking");
  const Json about = {{"general.architecture", info.architecture},
                      {"general.basename", info.name},
                      {"general.parameter_count", info.parameters},
                      {info.architecture + ".context_length", info.trained_context},
                      {info.architecture + ".embedding_length", info.width},
                      {info.architecture + ".vocab_size", info.vocabulary}};
  send_json(reply, {{"modelfile", fmt::format("FROM {}\n", service.model_path)},
                    {"parameters", parameters(info.sampling)},
                    {"template", info.chat_template},
                    {"details", details(info)},
                    {"model_info", about},
                    {"capabilities", std::move(capabilities)},
                    {"modified_at", modified_at(service)}});
}

}  // namespace

std::string ollama_time(std::chrono::system_clock::time_point time) {
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
  const auto seconds = static_cast<std::time_t>(micros / 1'000'000);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                     utc.tm_hour, utc.tm_min, utc.tm_sec, micros % 1'000'000);
}

void add_ollama_model_routes(Router& router, Service& service) {
  router.add("GET", "/api/tags", [&](const HttpRequest&, Reply& reply) { tags(service, reply); });
  router.add("GET", "/api/ps", [&](const HttpRequest&, Reply& reply) { ps(service, reply); });
  router.add("GET", "/api/version", [](const HttpRequest&, Reply& reply) {
    send_json(reply, {{"version", kApiVersion}});
  });
  router.add("POST", "/api/show", [&](const HttpRequest& request, Reply& reply) { show(service, request, reply); });
}

void add_ollama_routes(Router& router, Service& service) {
  add_ollama_model_routes(router, service);
  add_ollama_answer_routes(router, service);
  add_ollama_embedding_routes(router, service);
}

}  // namespace plait
