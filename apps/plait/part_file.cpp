// PartFile: a file that is still coming.
#include "part_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

namespace plait {
namespace {

namespace fs = std::filesystem;

Unexpected disk_fault(const fs::path& path, int error) {
  return fail(ErrorCode::kIo, fmt::format("'{}' cannot be written: {}", path.string(), std::strerror(error)));
}

// Waits for the lock. Returns 0 or what went wrong.
int lock_file(int file, const std::function<void()>& on_wait) {
  if (flock(file, LOCK_EX | LOCK_NB) == 0) return 0;
  if (errno != EWOULDBLOCK) return errno;
  on_wait();
  return flock(file, LOCK_EX) == 0 ? 0 : errno;
}

// True if `path` still names the open file: who had the lock before may have renamed or removed it.
bool still_named(int file, const fs::path& path) {
  struct stat opened {
  }, named{};
  if (fstat(file, &opened) != 0 || stat(path.c_str(), &named) != 0) return false;
  return opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

Result<void> sync_and_rename(const fs::path& from, const fs::path& to) {
  const int file = open(from.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return disk_fault(from, errno);
  const int synced = fsync(file) == 0 ? 0 : errno;
  close(file);
  if (synced != 0) return disk_fault(from, synced);
  if (rename(from.c_str(), to.c_str()) != 0) return disk_fault(to, errno);
  // The new name, too, must survive a power cut; where folders cannot be synced it has to do without.
  const int folder = open(to.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    fsync(folder);
    close(folder);
  }
  return {};
}

}  // namespace

PartFile::PartFile(fs::path target, fs::path path, int file, std::uint64_t size)
    : target_(std::move(target)), path_(std::move(path)), file_(file), size_(size) {
  std::ifstream note(note_path());
  if (size_ > 0) std::getline(note, etag_);
}

PartFile::PartFile(PartFile&& other) noexcept
    : target_(std::move(other.target_)),
      path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      size_(other.size_),
      etag_(std::move(other.etag_)) {}

PartFile::~PartFile() {
  if (file_ < 0) return;
  if (size_ == 0) discard();
  close(file_);
}

Result<std::optional<PartFile>> PartFile::open(const fs::path& target, const std::function<void()>& on_wait) {
  std::error_code code;
  fs::create_directories(target.parent_path(), code);
  if (code)
    return fail(ErrorCode::kIo,
                fmt::format("the folder '{}' cannot be made: {}", target.parent_path().string(), code.message()));
  fs::path path = target;
  path += ".part";
  while (true) {
    if (fs::exists(target, code)) return std::optional<PartFile>();
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0) return disk_fault(path, errno);
    const int locked = lock_file(file, on_wait);
    if (locked != 0) {
      close(file);
      if (locked == EINTR) return fail(ErrorCode::kCancelled, "interrupted while waiting for another plait");
      return fail(ErrorCode::kIo, fmt::format("'{}' cannot be locked: {}", path.string(), std::strerror(locked)));
    }
    if (!still_named(file, path)) {
      close(file);
      continue;
    }
    if (fs::exists(target, code)) {
      unlink(path.c_str());
      close(file);
      return std::optional<PartFile>();
    }
    struct stat facts {};
    if (fstat(file, &facts) != 0) facts.st_size = 0;
    return std::optional<PartFile>(PartFile(target, path, file, static_cast<std::uint64_t>(facts.st_size)));
  }
}

fs::path PartFile::note_path() const {
  fs::path note = path_;
  note += ".etag";
  return note;
}

Result<void> PartFile::begin_again(const std::string& etag) {
  if (ftruncate(file_, 0) != 0) return disk_fault(path_, errno);
  size_ = 0;
  etag_ = etag;
  // Without the note the file cannot be resumed by its mark, which costs time and nothing else.
  std::error_code code;
  if (etag.empty()) fs::remove(note_path(), code);
  if (!etag.empty()) std::ofstream(note_path()) << etag << '\n';
  return {};
}

Result<void> PartFile::append(std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(size_));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return disk_fault(path_, count == 0 ? ENOSPC : errno);
    size_ += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return {};
}

Result<void> PartFile::check_room(std::uint64_t bytes) const {
  std::error_code code;
  const fs::space_info space = fs::space(target_.parent_path(), code);
  if (code || space.available >= bytes) return {};
  return fail(ErrorCode::kIo,
              fmt::format("'{}' has {:.1f} MB free, and {:.1f} MB more are needed", target_.parent_path().string(),
                          static_cast<double>(space.available) / 1e6, static_cast<double>(bytes) / 1e6));
}

Result<void> PartFile::publish() {
  std::error_code code;
  fs::remove(note_path(), code);
  return sync_and_rename(path_, target_);
}

Result<void> PartFile::publish_instead(const fs::path& complete) {
  Result<void> renamed = sync_and_rename(complete, target_);
  if (renamed) discard();
  return renamed;
}

void PartFile::discard() {
  // The lock is on the open file, not on the name: who waits for it finds the name gone and opens anew.
  std::error_code code;
  fs::remove(note_path(), code);
  if (still_named(file_, path_)) fs::remove(path_, code);
}

}  // namespace plait
