// FileWriter: a file that is written from front to back, with every failure an error and no half file left behind.
#pragma once

#include <cstddef>
#include <cstdio>
#include <span>
#include <string>

#include "plait/result.h"

namespace plait {

class FileWriter {
 public:
  // Replaces what is there.
  static Result<FileWriter> create(const std::string& path);

  FileWriter(FileWriter&& other) noexcept;
  FileWriter& operator=(FileWriter&&) = delete;
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  ~FileWriter();  // Without a close() before, removes the file.

  Result<void> write(std::span<const std::byte> bytes);
  Result<void> write(std::span<const float> values) { return write(std::as_bytes(values)); }
  // Ends it; only now is it known that everything was written.
  Result<void> close();

 private:
  FileWriter(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}

  std::string path_;
  std::FILE* file_ = nullptr;
};

}  // namespace plait
