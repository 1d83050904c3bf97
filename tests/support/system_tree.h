// SystemTree: a directory that looks like the proc and sys of a machine made up for a test.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>

#include "support/temporary_directory.h"

namespace plait {

class SystemTree {
 public:
  std::filesystem::path root() const { return directory_.path(); }

  SystemTree& file(const std::string& path, std::string_view text) {
    std::filesystem::create_directories((root() / path).parent_path());
    std::ofstream(root() / path) << text << "\n";
    return *this;
  }
  SystemTree& processor(int number, const std::string& name, std::string_view text) {
    return file(fmt::format("sys/devices/system/cpu/cpu{}/{}", number, name), text);
  }
  // A core of these hardware threads, "0,8" or "4".
  SystemTree& core(std::initializer_list<int> threads) {
    std::string list;
    for (const int thread : threads) list += fmt::format("{}{}", list.empty() ? "" : ",", thread);
    for (const int thread : threads) processor(thread, "topology/thread_siblings_list", list);
    return *this;
  }
  SystemTree& node(int number, std::string_view processors) {
    return file(fmt::format("sys/devices/system/node/node{}/cpulist", number), processors);
  }

 private:
  TemporaryDirectory directory_;
};

}  // namespace plait
