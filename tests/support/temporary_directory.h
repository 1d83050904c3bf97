// TemporaryDirectory: a fresh directory for one test, removed with all that is in it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace plait {

class TemporaryDirectory {
 public:
  TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory();

  const std::string& path() const { return path_; }
  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }

  // Writes a file and returns its path.
  std::string write(std::string_view name, std::span<const std::byte> bytes) const;
  std::string write(std::string_view name, std::string_view text) const;

 private:
  std::string path_;
};

}  // namespace plait
