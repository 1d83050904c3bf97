// A file that a command writes results to.
#include "output_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace plait {

Result<OutputFile> OutputFile::create(const std::string& path) {
  OutputFile out(path);
  out.file_.reset(std::fopen(path.c_str(), "wb"));
  if (out.file_ == nullptr)
    return fail(ErrorCode::kIo, fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
  return out;
}

Result<void> OutputFile::write_at(std::size_t offset, std::span<const std::byte> bytes) {
  const bool there = offset == at_ || fseeko(file_.get(), static_cast<off_t>(offset), SEEK_SET) == 0;
  if (!there || std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) {
    return fail(ErrorCode::kIo, fmt::format("{}: cannot be written: {}", path_, std::strerror(errno)));
  }
  at_ = offset + bytes.size();
  return {};
}

Result<void> OutputFile::close() {
  if (std::fclose(file_.release()) == 0) return {};
  return fail(ErrorCode::kIo, fmt::format("{}: cannot be written: {}", path_, std::strerror(errno)));
}

Result<void> write_file(const std::string& path, std::span<const std::byte> bytes) {
  Result<OutputFile> out = OutputFile::create(path);
  if (!out) return fail(out.error());
  if (Result<void> written = out->write_at(0, bytes); !written) return written;
  return out->close();
}

}  // namespace plait
