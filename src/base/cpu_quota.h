// cpu_quota(): how much processor time the control groups of this process grant.
#pragma once

#include <filesystem>

namespace plait {

// Processors, as 1.5: the least of what the groups of version 2 and 1 that the process is in grant; 0 where there is no
// limit or none can be read. `root` is the directory that holds proc and sys: "/", or a test's.
double cpu_quota(const std::filesystem::path& root);

}  // namespace plait
