// FileWriter: a file of results, with every failure an error and no half file left behind.
#pragma once

#include <cstddef>
#include <cstdio>
#include <span>
#include <string>

#include "plait/result.h"

namespace plait {

class FileWriter {
 public:
  // Replaces what is there, but only when it is closed: until then the bytes lie beside it, in PATH.partial.
  static Result<FileWriter> create(const std::string& path);

  FileWriter(FileWriter&& other) noexcept;
  FileWriter& operator=(FileWriter&&) = delete;
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  ~FileWriter();  // Without a close() before, removes the partial file.

  Result<void> write(std::span<const std::byte> bytes);
  Result<void> write(std::span<const float> values) { return write(std::as_bytes(values)); }
  Result<void> write_at(std::size_t offset, std::span<const std::byte> bytes);
  // Ends it; only now is it known that everything was written.
  Result<void> close();

 private:
  FileWriter(std::string path, std::string partial, std::FILE* file)
      : path_(std::move(path)), partial_(std::move(partial)), file_(file) {}

  std::string path_;
  std::string partial_;  // Empty: written directly.
  std::FILE* file_ = nullptr;
  std::size_t at_ = 0;
};

}  // namespace plait
