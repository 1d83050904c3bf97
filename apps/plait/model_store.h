// Where models are kept on this machine, and which file a MODEL argument means.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "model_list.h"
#include "plait/result.h"

namespace plait {

// XDG_CACHE_HOME/plait/models, or ~/.cache/plait/models. Not made here.
Result<std::filesystem::path> model_folder();

// "hf:OWNER/REPO/FILE"; OWNER and REPO are plain names and FILE climbs nowhere.
Result<HubFile> parse_hub_name(std::string_view name);

// Where a file lies, or will lie, below `folder`.
std::filesystem::path stored_path(const std::filesystem::path& folder, const KnownModel& model);
std::filesystem::path stored_path(const std::filesystem::path& folder, const HubFile& file);

// The path that a MODEL argument means: a path itself, or a name that `plait pull` knows or has fetched.
Result<std::string> resolve_model(std::string_view model);

}  // namespace plait
