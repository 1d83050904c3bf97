// FileWriter: a file that is written from front to back.
#include "io/file_writer.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/text.h"

namespace plait {
namespace {

Unexpected cannot(std::string_view act, const std::string& path, int error) {
  return fail(ErrorCode::kIo,
              fmt::format("{}: cannot {}: {}", printable(path), act, std::generic_category().message(error)));
}

// Not a pipe or device, which must stay.
bool is_regular(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

}  // namespace

Result<FileWriter> FileWriter::create(const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "wbe");
  if (file == nullptr) return cannot("write", path, errno);
  return FileWriter(path, file);
}

FileWriter::FileWriter(FileWriter&& other) noexcept
    : path_(std::move(other.path_)), file_(std::exchange(other.file_, nullptr)) {}

FileWriter::~FileWriter() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  if (is_regular(path_)) std::remove(path_.c_str());
}

Result<void> FileWriter::write(std::span<const std::byte> bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) return cannot("write", path_, errno);
  return {};
}

Result<void> FileWriter::close() {
  if (std::fflush(file_) != 0) return cannot("write", path_, errno);  // The destructor removes it.
  if (std::fclose(std::exchange(file_, nullptr)) != 0) {
    const int error = errno;
    if (is_regular(path_)) std::remove(path_.c_str());
    return cannot("write", path_, error);
  }
  return {};
}

}  // namespace plait
