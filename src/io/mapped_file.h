// MappedFile: the bytes of a read-only file, mapped or read into memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "plait/result.h"

namespace plait {

// What tells one content of a path from another.
struct FileStamp {
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;  // Since the epoch.
};

// Owns the bytes for its lifetime; they start on a page. Moving it does not move them.
//
// The size is taken once, at open, and nothing behind it is ever read. Should another program truncate a mapped file
// afterwards, reading the part that is gone ends the process with SIGBUS, which no library can turn into an error
// without taking over the process's signals. Whoever must survive that opens with use_mmap = false: then a file that
// shrinks while it is read is an ordinary error. Replacing a file by rename is always safe.
class MappedFile {
 public:
  // Regular files only. use_mmap = false reads the whole file into memory of its own.
  static Result<MappedFile> open(const std::string& path, bool use_mmap);

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  FileStamp stamp() const { return stamp_; }
  bool contains(const std::byte* at) const { return at >= data_ && at < data_ + size_; }

  // Keeps all of it in physical memory.
  Result<void> lock(const std::string& path);

  // The range will not be read again. Pages that lie wholly inside it leave this process's memory (and its lock).
  void release(std::span<const std::byte> range) const;

 private:
  void close();

  std::byte* data_ = nullptr;  // From mmap, always; of an empty file null.
  std::size_t size_ = 0;
  FileStamp stamp_;
  bool locked_ = false;
};

}  // namespace plait
