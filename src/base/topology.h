// Topology: the cores that this process may use, which of them are fast, and the memory nodes they belong to.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plait {

// A physical core.
struct CpuCore {
  int processor = 0;  // The first of its hardware threads that may be used.
  int node = 0;       // Of memory.
  bool fast = true;   // A performance core, or there are no others.
};

struct Topology {
  std::vector<CpuCore> cores;  // By node, then by processor. Never empty.
  double quota = 0;            // Processors that the control groups grant, as 1.5; 0: no limit.
};

// Processors that the calling thread may use, ascending. Where the system does not say: as many as it has.
std::vector<int> allowed_processors();

// What proc and sys under `root` ("/", or a test's directory) say about the allowed processors. Cannot fail: what is
// missing or makes no sense there counts for nothing, and without any of it each processor is a fast core of node 0.
Topology read_topology(const std::filesystem::path& root, std::span<const int> allowed);

// "0-3,8" as numbers, ascending; empty if it is no such list.
std::vector<int> parse_processors(std::string_view text);
// The other way round.
std::string processors_text(std::span<const int> processors);

}  // namespace plait
