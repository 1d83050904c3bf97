// GgufWriter: header, tensors one after the other, and the way from a partial file to a complete one.
#include "io/gguf_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <type_traits>

#include "base/check.h"

namespace plait {
namespace {

static_assert(std::endian::native == std::endian::little, "model files are little endian, and so must be the machine");

constexpr std::uint32_t kMagic = 0x46554747;  // "GGUF"
constexpr std::uint32_t kVersion = 3;
constexpr std::size_t kAlignment = 32;  // What readers assume where general.alignment is not given.
constexpr std::uint32_t kArray = 9;

template <class T>
constexpr std::uint32_t value_type() {
  if constexpr (std::is_same_v<T, std::uint32_t>) return 4;
  if constexpr (std::is_same_v<T, std::int32_t>) return 5;
  if constexpr (std::is_same_v<T, float>) return 6;
  if constexpr (std::is_same_v<T, bool>) return 7;
  if constexpr (std::is_same_v<T, std::string>) return 8;
  if constexpr (std::is_same_v<T, std::uint64_t>) return 10;
}

class HeaderBytes {
 public:
  template <class T>
    requires std::is_arithmetic_v<T>
  void put(T value) {
    append(&value, sizeof(T));
  }
  void put(const std::string& text) {
    put(static_cast<std::uint64_t>(text.size()));
    append(text.data(), text.size());
  }

  template <class T>
  void put_typed(const T& value) {
    put(value_type<T>());
    put(value);
  }
  template <class T>
  void put_typed(const std::vector<T>& list) {
    put(kArray);
    put(value_type<T>());
    put(static_cast<std::uint64_t>(list.size()));
    for (const auto& value : list) put(static_cast<const T&>(value));
  }

  void pad() { bytes_.resize((bytes_.size() + kAlignment - 1) / kAlignment * kAlignment); }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void append(const void* from, std::size_t size) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + size);
    if (size > 0) std::memcpy(bytes_.data() + at, from, size);
  }

  std::vector<std::byte> bytes_;
};

std::size_t padding(std::size_t bytes) { return (kAlignment - bytes % kAlignment) % kAlignment; }

// The directory's entry must reach the disk too. Where that cannot be done it is left to the system.
void sync_directory(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  const std::string directory = parent.empty() ? std::string(1, '.') : parent;
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

std::size_t GgufTensor::bytes() const {
  std::int64_t values = 1;
  for (const std::int64_t extent : extents) values *= extent;
  return static_cast<std::size_t>(values / format->info.block_values * format->info.block_bytes);
}

std::vector<std::byte> gguf_header(std::span<const GgufEntry> metadata, std::span<const GgufTensor> tensors) {
  HeaderBytes out;
  out.put(kMagic);
  out.put(kVersion);
  out.put(static_cast<std::uint64_t>(tensors.size()));
  out.put(static_cast<std::uint64_t>(metadata.size()));
  for (const GgufEntry& entry : metadata) {
    out.put(entry.key);
    std::visit([&](const auto& value) { out.put_typed(value); }, entry.value);
  }
  std::uint64_t offset = 0;
  for (const GgufTensor& tensor : tensors) {
    check(tensor.format->info.in_gguf(), "GGUF has a type for each tensor's format");
    check(tensor.extents.at(0) % tensor.format->info.block_values == 0, "rows are made of whole blocks");
    out.put(tensor.name);
    out.put(static_cast<std::uint32_t>(tensor.extents.size()));
    for (const std::int64_t extent : tensor.extents) out.put(extent);
    out.put(static_cast<std::int32_t>(tensor.format->info.gguf_type));
    out.put(offset);
    offset += tensor.bytes() + padding(tensor.bytes());
  }
  out.pad();
  return out.take();
}

GgufWriter::GgufWriter(std::string path, std::vector<GgufTensor> tensors)
    : path_(std::move(path)),
      file_(nullptr, [](std::FILE* file) { return std::fclose(file); }),
      tensors_(std::move(tensors)) {}

GgufWriter::~GgufWriter() {
  if (file_ == nullptr) return;
  if (!partial_.empty()) ::unlink(partial_.c_str());  // While it is locked: the next one's is not ours.
  file_.reset();
}

Unexpected GgufWriter::system_error() const {
  return fail(ErrorCode::kIo, fmt::format("{}: cannot be written: {}", path_, std::strerror(errno)));
}

Result<void> GgufWriter::open() {
  struct stat found {};
  const bool is_there = ::stat(path_.c_str(), &found) == 0;
  if (is_there && S_ISDIR(found.st_mode)) {
    return fail(ErrorCode::kIo, fmt::format("{}: cannot be written: it is a directory", path_));
  }
  if (!is_there || S_ISREG(found.st_mode)) partial_ = path_ + ".partial";
  if (partial_.empty()) {
    file_.reset(std::fopen(path_.c_str(), "wb"));
    return file_ == nullptr ? system_error() : Result<void>();
  }
  // Locked before it is emptied: two programs that write the same model would mix their bytes.
  const int descriptor = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) return system_error();
  struct stat named {};
  const bool locked = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 && ::fstat(descriptor, &found) == 0 &&
                      ::stat(partial_.c_str(), &named) == 0 && named.st_ino == found.st_ino;
  if (!locked) {
    ::close(descriptor);
    return fail(ErrorCode::kIo, fmt::format("{}: cannot be written: another program is writing it", path_));
  }
  file_.reset(::ftruncate(descriptor, 0) == 0 ? ::fdopen(descriptor, "wb") : nullptr);
  if (file_ != nullptr) return {};
  const Unexpected error = system_error();
  ::close(descriptor);
  return error;
}

Result<GgufWriter> GgufWriter::create(const std::string& path, std::span<const GgufEntry> metadata,
                                      std::vector<GgufTensor> tensors) {
  const std::vector<std::byte> header = gguf_header(metadata, tensors);
  GgufWriter writer(path, std::move(tensors));
  if (Result<void> opened = writer.open(); !opened) return fail(opened.error());
  if (Result<void> put = writer.put(header); !put) return fail(put.error());
  writer.skip_empty_tensors();
  return writer;
}

Result<void> GgufWriter::put(std::span<const std::byte> bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) return system_error();
  written_ += bytes.size();
  return {};
}

void GgufWriter::skip_empty_tensors() {
  while (tensor_ < tensors_.size() && tensors_[tensor_].bytes() == 0) ++tensor_;
}

Result<void> GgufWriter::write(std::span<const std::byte> bytes) {
  if (bytes.empty()) return {};
  check(tensor_ < tensors_.size() && bytes.size() <= tensors_[tensor_].bytes() - tensor_written_,
        "bytes lie inside the next tensor");
  if (Result<void> put_bytes = put(bytes); !put_bytes) return put_bytes;
  tensor_written_ += bytes.size();
  const std::size_t size = tensors_[tensor_].bytes();
  if (tensor_written_ < size) return {};
  ++tensor_;
  tensor_written_ = 0;
  skip_empty_tensors();
  static constexpr std::byte kZeros[kAlignment] = {};
  return put(std::span(kZeros).first(padding(size)));
}

Result<void> GgufWriter::finish() {
  check(tensor_ == tensors_.size(), "all tensors are written");
  if (std::fflush(file_.get()) != 0) return system_error();
  if (partial_.empty()) return std::fclose(file_.release()) == 0 ? Result<void>() : system_error();
  if (::fsync(::fileno(file_.get())) != 0) return system_error();
  // Closing gives up the lock, so the name comes first.
  if (std::rename(partial_.c_str(), path_.c_str()) != 0) return system_error();
  partial_.clear();
  if (std::fclose(file_.release()) != 0) return system_error();
  sync_directory(path_);
  return {};
}

}  // namespace plait
