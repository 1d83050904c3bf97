// How much memory this process may still take: /proc/meminfo and the control group, version 2 or 1.
#include "base/memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace plait {
namespace {

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

std::optional<std::size_t> number_in(const char* path) {
  std::ifstream file(path);
  std::size_t value = 0;
  if (file >> value) return value;
  return {};
}

std::size_t left_of(const char* limit_path, const char* used_path) {
  const auto limit = number_in(limit_path), used = number_in(used_path);
  if (!limit || !used) return kNoLimit;
  return *limit > *used ? *limit - *used : 0;
}

std::size_t system_available() {
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  std::size_t kib = 0;
  while (file >> key >> kib) {
    if (key == "MemAvailable:") return kib * 1024;
    std::getline(file, unit);
  }
  return kNoLimit;
}

}  // namespace

std::size_t available_memory() {
  return std::min(
      {system_available(), left_of("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
       left_of("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes")});
}

}  // namespace plait
