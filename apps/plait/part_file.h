// PartFile: a file that is still coming. It lies beside its target as TARGET.part and takes the target's name when
// complete.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "plait/result.h"

namespace plait {

// Two processes never have the same part file: it is its own lock, which ends with the process, however that ends.
class PartFile {
 public:
  // Waits for a process that has it; `on_wait` is called once before. Empty if the target is there (by then).
  static Result<std::optional<PartFile>> open(const std::filesystem::path& target,
                                              const std::function<void()>& on_wait);
  PartFile(PartFile&& other) noexcept;
  PartFile& operator=(PartFile&&) = delete;
  ~PartFile();

  const std::filesystem::path& target() const { return target_; }
  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  // The server's mark of the content of which this is the beginning; empty: not known.
  const std::string& etag() const { return etag_; }

  // Drops what is there.
  Result<void> begin_again(const std::string& etag);
  Result<void> append(std::span<const char> bytes);
  // Fails if the file system has no room for `bytes` more.
  Result<void> check_room(std::uint64_t bytes) const;
  // To disk, then under the target's name.
  Result<void> publish();
  // The same for a file that came some other way, on the same file system; the part file goes.
  Result<void> publish_instead(const std::filesystem::path& complete);
  // Nothing of it is worth keeping.
  void discard();

 private:
  PartFile(std::filesystem::path target, std::filesystem::path path, int file, std::uint64_t size);
  std::filesystem::path note_path() const;

  std::filesystem::path target_, path_;
  int file_;
  std::uint64_t size_;
  std::string etag_;
};

}  // namespace plait
