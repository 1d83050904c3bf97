// MappedFile: the bytes of a read-only file, mapped or read into memory.
#include "io/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace plait {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

// Closes a file descriptor when it goes out of scope.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

Result<void> read_all(int file, std::byte* to, std::size_t size, const std::string& path) {
  std::size_t done = 0;
  while (done < size) {
    const std::size_t step = std::min(size - done, std::size_t{1} << 30);
    const ssize_t got = ::pread(file, to + done, step, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(ErrorCode::kIo, fmt::format("{}: cannot read: {}", printable(path), reason(errno)));
    if (got == 0) {
      return fail(ErrorCode::kIo, fmt::format("{}: the file shrank from {} to {} bytes while it was read",
                                              printable(path), size, done));
    }
    done += static_cast<std::size_t>(got);
  }
  return {};
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path, bool use_mmap) {
  // Without O_NONBLOCK opening a named pipe would wait for its writer.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number() < 0) {
    const ErrorCode code = errno == ENOENT || errno == ENOTDIR ? ErrorCode::kNotFound : ErrorCode::kIo;
    return fail(code, fmt::format("{}: cannot open: {}", printable(path), reason(errno)));
  }
  struct stat info {};
  if (::fstat(file.number(), &info) != 0) {
    return fail(ErrorCode::kIo, fmt::format("{}: cannot read its size: {}", printable(path), reason(errno)));
  }
  if (!S_ISREG(info.st_mode)) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("{}: is {}, wanted a file", printable(path),
                                                         S_ISDIR(info.st_mode) ? "a directory" : "a device"));
  }
  MappedFile out;
  out.stamp_ = {static_cast<std::uint64_t>(info.st_size),
                std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec};
  if (info.st_size == 0) return out;
  const std::size_t size = static_cast<std::size_t>(info.st_size);
  void* const at = use_mmap ? ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0)
                            : ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) {
    return fail(errno == ENOMEM ? ErrorCode::kNoMemory : ErrorCode::kIo,
                fmt::format("{}: cannot {} its {} bytes: {}", printable(path), use_mmap ? "map" : "find memory for",
                            size, reason(errno)));
  }
  out.data_ = static_cast<std::byte*>(at);
  out.size_ = size;
  if (!use_mmap) {
    if (auto done = read_all(file.number(), out.data_, size, path); !done) return fail(std::move(done.error()));
  }
  return out;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      stamp_(other.stamp_),
      locked_(std::exchange(other.locked_, false)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this != &other) {
    close();
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    stamp_ = other.stamp_;
    locked_ = std::exchange(other.locked_, false);
  }
  return *this;
}

MappedFile::~MappedFile() { close(); }

void MappedFile::close() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

Result<void> MappedFile::lock(const std::string& path) {
  if (data_ == nullptr) return {};
  if (::mlock(data_, size_) != 0) {
    return fail(ErrorCode::kNoMemory,
                fmt::format("{}: cannot lock its {} bytes in memory: {}; the limit is what `ulimit -l` says",
                            printable(path), size_, reason(errno)));
  }
  locked_ = true;
  return {};
}

void MappedFile::release(std::span<const std::byte> range) const {
  if (range.empty()) return;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<std::uintptr_t>(range.data());
  const std::uintptr_t begin = (address + page - 1) / page * page;
  const std::uintptr_t end = (address + range.size()) / page * page;
  if (begin >= end) return;
  void* const at = data_ + (begin - reinterpret_cast<std::uintptr_t>(data_));
  if (locked_) ::munlock(at, end - begin);
  ::madvise(at, end - begin, MADV_DONTNEED);  // A hint: if the system declines, the pages only stay longer.
}

}  // namespace plait
