// plait serve: answers requests over HTTP.
#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>

#include "commands.h"
#include "engine_options.h"
#include "id_list.h"
#include "server/response_store.h"
#include "server/server.h"
#include "server/service.h"
#include "stop_signals.h"

namespace plait {
namespace {

struct ServeOptions {
  CommonOptions common;
  std::string model, alias, key_file;
  ServerOptions server;
  std::size_t body_bytes = 0;
  double grace_s = 10;
  int parallel = 16;
};

// One key a line; empty lines and those that begin with # say nothing.
Result<void> read_keys(const std::string& path, std::vector<std::string>& keys) {
  Result<std::string> text = read_text_file(path, std::size_t{1} << 20);
  if (!text) return fail(text.error());
  const std::size_t before = keys.size();
  for (std::size_t at = 0; at < text->size();) {
    const std::size_t end = std::min(text->find('\n', at), text->size());
    std::string line = text->substr(at, end - at);
    at = end + 1;
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (!line.empty() && line.front() != '#') keys.push_back(std::move(line));
  }
  if (keys.size() > before) return {};
  return fail(ErrorCode::kInvalidArgument, fmt::format("{} has no API key: one a line is wanted", path));
}

Result<ServerOptions> server_options(const ServeOptions& options) {
  ServerOptions server = options.server;
  if (!options.key_file.empty()) {
    if (auto read = read_keys(options.key_file, server.api_keys); !read) return fail(read.error());
  }
  if (options.body_bytes > 0) {
    server.max_body_bytes = options.body_bytes;
    server.max_bodies_bytes = std::max(server.max_bodies_bytes, 8 * options.body_bytes);
  }
  if (!std::isfinite(options.grace_s)) return fail(ErrorCode::kInvalidArgument, "--grace is not a number of seconds");
  server.grace_ms = static_cast<int>(options.grace_s * 1000);
  return server;
}

// A connection takes a descriptor. Many systems begin with 1024, which the process may raise.
void allow_descriptors(int connections) {
  rlimit limit{};
  const rlim_t wanted = static_cast<rlim_t>(connections) + 256;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min(limit.rlim_max, wanted);
  setrlimit(RLIMIT_NOFILE, &limit);
}

// Memory that a request took goes back to the system when it is done. Else glibc keeps it: for each of many threads,
// and ever larger pieces from the first that is given back on.
void give_memory_back() {
  mallopt(M_MMAP_THRESHOLD, 256 << 10);
  mallopt(M_TRIM_THRESHOLD, 1 << 20);
  mallopt(M_ARENA_MAX, 4);
}

void add_routes(Router& router, Service& service, ResponseStore& responses) {
  add_openai_routes(router, service);
  add_responses_routes(router, service, responses);
  add_anthropic_routes(router, service);
  add_ollama_routes(router, service);
  add_llama_server_routes(router, service);
  add_metrics_routes(router, service);
  add_page_routes(router, service);
}

Result<void> serve(const ServeOptions& options, Context& context) {
  Result<ServerOptions> server_with = server_options(options);
  if (!server_with) return fail(server_with.error());
  Result<EngineOptions> engine_with = engine_options(options.common, options.model);
  if (!engine_with) return fail(engine_with.error());
  engine_with->max_sequences = engine_with->cache_sequences = options.parallel;
  give_memory_back();
  allow_descriptors(server_with->max_connections);

  // Before the model is loaded, so that a port that is taken is said at once; answers wait until it is.
  Metrics metrics;
  Router router;
  server_with->on_reply = [&metrics](int status) { metrics.replied(status); };
  Result<Server> server = Server::open(
      *server_with, [&router](const HttpRequest& request, Reply& reply) { router.handle(request, reply); });
  if (!server) return fail(server.error());
  Result<Engine> engine = Engine::open(*engine_with);
  if (!engine) return fail(engine.error());
  print_engine(options.common, engine->info(),
               std::chrono::duration<double>(std::chrono::steady_clock::now() - context.start).count());

  const std::string file = std::filesystem::path(engine_with->model).stem().string();
  AnswerBudget answers;
  Service service{.engine = *engine,
                  .metrics = metrics,
                  .answers = answers,
                  .model_name = options.alias.empty() ? file : options.alias,
                  .model_path = engine_with->model,
                  .started = std::time(nullptr)};
  ResponseStore responses;
  add_routes(router, service, responses);
  const StopSignals signals([&server] { server->stop(); });
  fmt::print(stderr, "plait: {} is served at {}\n", without_terminal_codes(service.model_name), server->address());
  server->run();
  return {};
}

void add_server_flags(CLI::App& command, ServeOptions& options) {
  constexpr const char* kGroup = "Server";
  ServerOptions& server = options.server;
  command
      .add_option("--host", server.host, "address to listen at; default: 127.0.0.1, which only this machine reaches")
      ->type_name("ADDRESS")
      ->group(kGroup);
  command.add_option("--port", server.port, "port; 0: any that is free; default: 8080")
      ->check(CLI::Range(0, 65535))
      ->type_name("N")
      ->group(kGroup);
  command.add_option("--api-key", server.api_keys, "key that clients must send; may be given again")
      ->type_name("KEY")
      ->allow_extra_args(false)
      ->group(kGroup);
  command.add_option("--api-key-file", options.key_file, "file with such keys, one a line")
      ->type_name("FILE")
      ->group(kGroup);
  command.add_option("--cors", server.cors_origins, "site whose pages may use the server, or *; may be given again")
      ->type_name("ORIGIN")
      ->allow_extra_args(false)
      ->group(kGroup);
  command
      .add_option("--allow-host", server.allowed_hosts,
                  "another name that clients may call a server on 127.0.0.1; may be given again")
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->group(kGroup);
  command
      .add_option_function<std::string>(
          "--max-body", [&options](const std::string& text) { options.body_bytes = *parse_bytes(text); },
          "longest body of a request, as 2M (default)")
      ->check(CLI::Validator(
          [](const std::string& text) {
            const Result<std::size_t> bytes = parse_bytes(text);
            return bytes ? std::string() : bytes.error().message;
          },
          "", "bytes"))
      ->type_name("BYTES")
      ->group(kGroup);
  command
      .add_option("--grace", options.grace_s, "seconds that requests have to end when the server is to; default: 10")
      ->check(CLI::Range(0.0, 86400.0))
      ->type_name("SECONDS")
      ->group(kGroup);
}

}  // namespace

void add_serve(CLI::App& app, Context& context) {
  ServeOptions& options = context.make<ServeOptions>();
  CLI::App& command = add_command(app, CommandGroup::kUse,
                                  {.name = "serve",
                                   .summary = "answers requests over HTTP",
                                   .examples = "  plait serve smollm2\n"
                                               "  plait serve model.gguf --port 8000 --parallel 32 --alias my-model\n"
                                               "  plait serve model.gguf --host 0.0.0.0 --api-key-file keys.txt"});
  command.add_option("model", options.model, "a file or a name")->required()->type_name("MODEL");
  command.add_option("--alias", options.alias, "what clients see the model called; default: the file's name")
      ->type_name("NAME");
  command.add_option("--parallel", options.parallel, "requests that are computed together, also -np; default: 16")
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
  add_server_flags(command, options);
  add_common_options(command, options.common);
  on_run(command, context, [&options, &context] { return serve(options, context); });
}

}  // namespace plait
