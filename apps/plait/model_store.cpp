// Where models are kept on this machine, and which file a MODEL argument means.
#include "model_store.h"

#include <fmt/format.h>

#include <cstdlib>

namespace plait {
namespace {

namespace fs = std::filesystem;

bool plain_name(std::string_view name) {
  if (name.empty() || name == "." || name == "..") return false;
  return name.find_first_of("\\?#%:") == std::string_view::npos;
}

// The pieces between slashes are plain names.
bool plain_path(std::string_view path) {
  while (true) {
    const size_t slash = path.find('/');
    if (!plain_name(path.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

Result<std::string> fetched(const fs::path& path, std::string_view name) {
  std::error_code code;
  if (fs::exists(path, code)) return path.string();
  return fail(ErrorCode::kNotFound, fmt::format("the model '{}' is not here yet; 'plait pull {}' gets it", name, name));
}

}  // namespace

Result<fs::path> model_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && cache[0] == '/') return fs::path(cache) / "plait" / "models";
  const char* home = std::getenv("HOME");
  if (home != nullptr && home[0] == '/') return fs::path(home) / ".cache" / "plait" / "models";
  return fail(ErrorCode::kNotFound, "no place for models: neither XDG_CACHE_HOME nor HOME names a folder");
}

Result<HubFile> parse_hub_name(std::string_view name) {
  const std::string_view whole = name;
  if (name.starts_with("hf:")) name.remove_prefix(3);
  const size_t first = name.find('/');
  const size_t second = first == std::string_view::npos ? first : name.find('/', first + 1);
  if (second == std::string_view::npos || !plain_path(name)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' names no file on the hub: hf:OWNER/REPO/FILE is wanted", whole));
  }
  return HubFile{.owner = std::string(name.substr(0, first)),
                 .repository = std::string(name.substr(first + 1, second - first - 1)),
                 .file = std::string(name.substr(second + 1))};
}

fs::path stored_path(const fs::path& folder, const KnownModel& model) { return folder / model.file; }

fs::path stored_path(const fs::path& folder, const HubFile& file) {
  return folder / file.owner / file.repository / file.file;
}

Result<std::string> resolve_model(std::string_view model) {
  std::error_code code;
  if (fs::exists(fs::path(model), code)) return std::string(model);
  const KnownModel* known = find_known_model(model);
  if (known == nullptr && !model.starts_with("hf:")) {
    return fail(ErrorCode::kNotFound,
                fmt::format("'{}' is neither a file nor a known model; known are {} and hf:OWNER/REPO/FILE", model,
                            known_model_names()));
  }
  Result<fs::path> folder = model_folder();
  if (!folder) return fail(folder.error());
  if (known != nullptr) return fetched(stored_path(*folder, *known), model);
  Result<HubFile> file = parse_hub_name(model);
  if (!file) return fail(file.error());
  return fetched(stored_path(*folder, *file), model);
}

}  // namespace plait
