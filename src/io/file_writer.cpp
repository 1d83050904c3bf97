// FileWriter: a partial file, which takes the name of the whole one when it is complete.
#include "io/file_writer.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/text.h"

namespace plait {
namespace {

constexpr std::string_view kPartial = ".partial";

Unexpected cannot(std::string_view act, const std::string& path, int error) {
  return fail(ErrorCode::kIo,
              fmt::format("{}: cannot {}: {}", printable(path), act, std::generic_category().message(error)));
}

}  // namespace

Result<FileWriter> FileWriter::create(const std::string& path) {
  struct stat found {};
  const bool is_there = ::stat(path.c_str(), &found) == 0;
  if (is_there && S_ISDIR(found.st_mode)) return cannot("write", path, EISDIR);
  if (is_there && ::access(path.c_str(), W_OK) != 0) return cannot("write", path, errno);
  // A pipe or a device takes the bytes as they come. Of a link, what it points to is replaced.
  std::string partial;
  if (!is_there || S_ISREG(found.st_mode)) {
    std::error_code fault;
    const std::filesystem::path real = is_there ? std::filesystem::canonical(path, fault) : std::filesystem::path(path);
    partial = (fault ? path : real.string()) + std::string(kPartial);
  }
  std::FILE* const file = std::fopen(partial.empty() ? path.c_str() : partial.c_str(), "wbe");
  if (file == nullptr) return cannot("write", path, errno);
  return FileWriter(path, std::move(partial), file);
}

FileWriter::FileWriter(FileWriter&& other) noexcept
    : path_(std::move(other.path_)),
      partial_(std::move(other.partial_)),
      file_(std::exchange(other.file_, nullptr)),
      at_(other.at_) {}

FileWriter::~FileWriter() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  if (!partial_.empty()) std::remove(partial_.c_str());
}

Result<void> FileWriter::write(std::span<const std::byte> bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) return cannot("write", path_, errno);
  at_ += bytes.size();
  return {};
}

Result<void> FileWriter::write_at(std::size_t offset, std::span<const std::byte> bytes) {
  if (offset != at_ && fseeko(file_, static_cast<off_t>(offset), SEEK_SET) != 0) return cannot("write", path_, errno);
  at_ = offset;
  return write(bytes);
}

Result<void> FileWriter::close() {
  if (std::fflush(file_) != 0) return cannot("write", path_, errno);  // The destructor removes it.
  int error = std::fclose(std::exchange(file_, nullptr)) == 0 ? 0 : errno;
  if (partial_.empty()) return error == 0 ? Result<void>() : cannot("write", path_, error);
  const std::string target = partial_.substr(0, partial_.size() - kPartial.size());
  if (error == 0 && std::rename(partial_.c_str(), target.c_str()) != 0) error = errno;
  if (error == 0) return {};
  std::remove(partial_.c_str());
  return cannot("write", path_, error);
}

}  // namespace plait
