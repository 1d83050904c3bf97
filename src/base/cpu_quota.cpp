// cpu_quota(): /proc/self/cgroup, cpu.max, and cpu.cfs_quota_us over cpu.cfs_period_us.
#include "base/cpu_quota.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace plait {
namespace {

namespace fs = std::filesystem;

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// The first words of a file, as many as there are of `count`.
std::vector<std::string> words_of(const fs::path& path, std::size_t count) {
  std::vector<std::string> words;
  std::ifstream file(path);
  std::string word;
  while (words.size() < count && file >> word) words.push_back(word);
  return words;
}

// "max", "-1" and what is no number are no limit.
double share(std::string_view quota, std::string_view period) {
  std::int64_t numbers[2] = {};
  const std::string_view texts[2] = {quota, period};
  for (int i = 0; i < 2; ++i) {
    const char* end = texts[i].data() + texts[i].size();
    const auto [rest, error] = std::from_chars(texts[i].data(), end, numbers[i]);
    if (error != std::errc() || rest != end || numbers[i] <= 0) return kNoLimit;
  }
  return static_cast<double>(numbers[0]) / static_cast<double>(numbers[1]);
}

double limit_v2(const fs::path& group) {
  const std::vector<std::string> words = words_of(group / "cpu.max", 2);
  return words.size() == 2 ? share(words[0], words[1]) : kNoLimit;
}

double limit_v1(const fs::path& group) {
  const std::vector<std::string> quota = words_of(group / "cpu.cfs_quota_us", 1);
  const std::vector<std::string> period = words_of(group / "cpu.cfs_period_us", 1);
  return quota.size() == 1 && period.size() == 1 ? share(quota[0], period[0]) : kNoLimit;
}

// A group's limit holds for all groups in it. Inside a container the path may be that of the host, of which only the
// top is seen here: files that are not there limit nothing.
double least_up(const fs::path& top, const fs::path& group, double (*limit)(const fs::path&)) {
  double least = kNoLimit;
  fs::path inside = group.lexically_normal().relative_path();
  for (;; inside = inside.parent_path()) {
    least = std::min(least, limit(top / inside));
    if (inside.empty()) return least;
  }
}

bool names_cpu(std::string_view controllers) {
  while (!controllers.empty()) {
    const std::size_t comma = std::min(controllers.find(','), controllers.size());
    if (controllers.substr(0, comma) == "cpu") return true;
    controllers.remove_prefix(std::min(comma + 1, controllers.size()));
  }
  return false;
}

}  // namespace

double cpu_quota(const fs::path& root) {
  const fs::path groups = root / "sys/fs/cgroup";
  double least = std::min(limit_v2(groups), std::min(limit_v1(groups / "cpu"), limit_v1(groups / "cpu,cpuacct")));
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {  // "4:cpu,cpuacct:/path"; of version 2 "0::/path".
    const std::size_t first = line.find(':'), second = first < line.size() ? line.find(':', first + 1) : first;
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
    if (controllers.empty()) {
      for (const char* top : {"", "unified"}) least = std::min(least, least_up(groups / top, group, limit_v2));
    } else if (names_cpu(controllers)) {
      for (const char* top : {"cpu", "cpu,cpuacct"}) least = std::min(least, least_up(groups / top, group, limit_v1));
    }
  }
  return least == kNoLimit ? 0 : least;
}

}  // namespace plait
