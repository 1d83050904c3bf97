// A file that a command writes results to.
#pragma once

#include <cstddef>
#include <cstdio>
#include <memory>
#include <span>
#include <string>

#include "plait/result.h"

namespace plait {

// Written directly, not through a temporary name: it may be a pipe or a device.
class OutputFile {
 public:
  static Result<OutputFile> create(const std::string& path);

  Result<void> write_at(std::size_t offset, std::span<const std::byte> bytes);
  Result<void> close();  // Reports what the system only says at the end: a full disk.

 private:
  explicit OutputFile(std::string path)
      : path_(std::move(path)), file_(nullptr, [](std::FILE* file) { return std::fclose(file); }) {}

  std::string path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::size_t at_ = 0;
};

Result<void> write_file(const std::string& path, std::span<const std::byte> bytes);

}  // namespace plait
