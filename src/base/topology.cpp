// Topology: read from /sys/devices.
#include "base/topology.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "base/cpu_quota.h"

namespace plait {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxProcessors = 1 << 16;
// Cores of less than this part of the greatest speed are not fast: they would hold up all others, whose shares are as
// large. Favoured cores of one kind differ by a few percent, kinds by a quarter and more.
constexpr double kFastPart = 0.8;

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.pop_back();
  return line;
}

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || rest != text.data() + text.size() || value < 0) return {};
  return value;
}

std::vector<int> list_in(const fs::path& path) { return parse_processors(first_line(path)); }

bool contains(std::span<const int> sorted, int value) {
  return std::binary_search(sorted.begin(), sorted.end(), value);
}

// The hardware threads of a processor's core, itself among them; empty if the system does not say.
std::vector<int> siblings(const fs::path& cpu, int processor) {
  for (const char* name : {"topology/thread_siblings_list", "topology/core_cpus_list"}) {
    std::vector<int> list = list_in(cpu / name);
    if (contains(list, processor)) return list;
  }
  return {};
}

// Without lists of siblings: processors of one package that have the same core number are one core.
std::optional<std::pair<int, int>> core_key(const fs::path& cpu) {
  const auto package = number(first_line(cpu / "topology/physical_package_id"));
  const auto core = number(first_line(cpu / "topology/core_id"));
  if (!package || !core) return {};
  return std::pair{*package, *core};
}

// One processor of each core, the lowest.
std::vector<int> one_a_core(const fs::path& cpus, std::span<const int> allowed) {
  std::vector<int> out;
  std::map<std::pair<int, int>, int> seen;
  for (const int processor : allowed) {
    const fs::path cpu = cpus / fmt::format("cpu{}", processor);
    const std::vector<int> threads = siblings(cpu, processor);
    bool known = std::any_of(threads.begin(), threads.end(), [&](int thread) { return contains(out, thread); });
    if (threads.empty()) {
      const auto key = core_key(cpu);
      known = key && !seen.emplace(*key, processor).second;
    }
    if (!known) out.push_back(processor);
  }
  return out;
}

// The memory node of each processor that a node lists.
std::map<int, int> nodes_of(const fs::path& root) {
  std::map<int, int> out;
  std::error_code error;
  for (fs::directory_iterator at(root / "sys/devices/system/node", error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with("node")) continue;
    const auto node = number(std::string_view(name).substr(4));
    if (!node) continue;
    for (const int processor : list_in(at->path() / "cpulist")) out.emplace(processor, *node);
  }
  return out;
}

// A speed of each core to compare them by; empty if it is not known of all.
std::vector<int> speeds(const fs::path& cpus, std::span<const CpuCore> cores, const char* file) {
  std::vector<int> out;
  for (const CpuCore& core : cores) {
    const auto speed = number(first_line(cpus / fmt::format("cpu{}", core.processor) / file));
    if (!speed || *speed == 0) return {};
    out.push_back(*speed);
  }
  return out;
}

// Intel's hybrids list their kinds; others have a capacity; the rest is told by its greatest frequency.
void mark_slow(const fs::path& root, std::vector<CpuCore>& cores) {
  const std::vector<int> performance = list_in(root / "sys/devices/cpu_core/cpus");
  const std::vector<int> efficiency = list_in(root / "sys/devices/cpu_atom/cpus");
  if (!performance.empty() && !efficiency.empty()) {
    for (CpuCore& core : cores) core.fast = contains(performance, core.processor);
  } else {
    const fs::path cpus = root / "sys/devices/system/cpu";
    for (const char* file : {"cpu_capacity", "cpufreq/cpuinfo_max_freq"}) {
      const std::vector<int> speed = speeds(cpus, cores, file);
      if (speed.empty()) continue;
      const int most = *std::max_element(speed.begin(), speed.end());
      for (std::size_t i = 0; i < cores.size(); ++i) cores[i].fast = speed[i] >= kFastPart * most;
      if (std::any_of(cores.begin(), cores.end(), [](const CpuCore& core) { return !core.fast; })) break;
    }
  }
  if (std::any_of(cores.begin(), cores.end(), [](const CpuCore& core) { return core.fast; })) return;
  for (CpuCore& core : cores) core.fast = true;  // Only slow ones may be used.
}

}  // namespace

std::vector<int> parse_processors(std::string_view text) {
  std::vector<int> out;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(item.size() + 1, text.size()));
    const std::size_t dash = item.find('-');
    const auto first = number(item.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number(item.substr(dash + 1));
    if (!first || !last || *last < *first || *last >= kMaxProcessors) return {};
    for (int i = *first; i <= *last; ++i) out.push_back(i);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::string processors_text(std::span<const int> processors) {
  std::string text;
  for (std::size_t begin = 0; begin < processors.size();) {
    std::size_t end = begin + 1;
    while (end < processors.size() && processors[end] == processors[end - 1] + 1) ++end;
    const char* comma = text.empty() ? "" : ",";
    text += end == begin + 1 ? fmt::format("{}{}", comma, processors[begin])
                             : fmt::format("{}{}-{}", comma, processors[begin], processors[end - 1]);
    begin = end;
  }
  return text;
}

std::vector<int> allowed_processors() {
  std::vector<int> out;
  for (int count = CPU_SETSIZE; count <= kMaxProcessors; count *= 4) {  // The system wants room for all that it knows.
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(count), [](cpu_set_t* s) { CPU_FREE(s); });
    const std::size_t bytes = CPU_ALLOC_SIZE(count);
    if (set == nullptr) break;
    CPU_ZERO_S(bytes, set.get());
    if (::sched_getaffinity(0, bytes, set.get()) != 0) continue;
    for (int i = 0; i < count; ++i) {
      if (CPU_ISSET_S(static_cast<std::size_t>(i), bytes, set.get())) out.push_back(i);
    }
    break;
  }
  if (out.empty()) {
    const int count = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    for (int i = 0; i < count; ++i) out.push_back(i);
  }
  return out;
}

Topology read_topology(const fs::path& root, std::span<const int> allowed) {
  Topology out;
  const std::map<int, int> nodes = nodes_of(root);
  for (const int processor : one_a_core(root / "sys/devices/system/cpu", allowed)) {
    const auto node = nodes.find(processor);
    out.cores.push_back({.processor = processor, .node = node != nodes.end() ? node->second : 0});
  }
  if (out.cores.empty()) out.cores.push_back({});
  mark_slow(root, out.cores);
  std::stable_sort(out.cores.begin(), out.cores.end(),
                   [](const CpuCore& a, const CpuCore& b) { return a.node < b.node; });
  out.quota = cpu_quota(root);
  return out;
}

}  // namespace plait
