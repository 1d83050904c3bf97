// What this process holds in memory, as the kernel counts it.
#pragma once

#include <cstddef>
#include <fstream>
#include <string>

namespace plait {

// A figure of /proc/self/status in bytes; zero where there is none.
inline std::size_t memory_figure_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    std::size_t kilobytes = 0;
    if (word == name + ":" && status >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

inline std::size_t peak_memory_bytes() { return memory_figure_bytes("VmHWM"); }
inline std::size_t file_memory_bytes() { return memory_figure_bytes("RssFile"); }
inline std::size_t memory_bytes() { return memory_figure_bytes("VmRSS"); }

}  // namespace plait
