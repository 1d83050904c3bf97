// The repack cache's file: a header of ten words, a checksum for each 8 MiB of weights, then the weights.
#include "io/repack_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

#include "base/text.h"
#include "io/file_writer.h"

namespace plait {
namespace {

constexpr std::uint64_t kMagic = 0x6b63617074696c70;  // "plitpack"
constexpr std::uint64_t kVersion = 2;                 // Of this file and of the packed layouts (linear-kernels.md 4).
constexpr std::size_t kChunkBytes = std::size_t{8} << 20;

// All words are little-endian, as is every machine that plait runs on.
enum Word { kIsMagic, kIsVersion, kIsModel, kIsLayout, kIsChecked, kIsBytes, kIsTable, kIsHeader, kWords };
using Header = std::array<std::uint64_t, kWords>;

std::size_t chunks_of(std::size_t bytes) { return (bytes + kChunkBytes - 1) / kChunkBytes; }
std::size_t weights_at(std::size_t bytes) { return sizeof(Header) + chunks_of(bytes) * sizeof(std::uint64_t); }

template <class Byte>
std::span<Byte> chunk(std::span<Byte> weights, std::size_t i) {
  return weights.subspan(i * kChunkBytes, std::min(kChunkBytes, weights.size() - i * kChunkBytes));
}

std::uint64_t header_sum(const Header& header) {
  return mix_bytes(kHashStart, std::as_bytes(std::span(header).first(kIsHeader)));
}

class Descriptor {
 public:
  explicit Descriptor(const std::string& path) : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }
  // Whether all of `to` could be read.
  bool read(std::size_t at, std::span<std::byte> to) const {
    while (!to.empty()) {
      const ssize_t got = ::pread(number_, to.data(), to.size(), static_cast<off_t>(at));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      to = to.subspan(static_cast<std::size_t>(got));
      at += static_cast<std::size_t>(got);
    }
    return true;
  }

 private:
  int number_;
};

Unexpected useless(const std::string& path, std::string_view why) {
  return fail(ErrorCode::kCorrupt, fmt::format("{}: {}", printable(path), why));
}

}  // namespace

std::uint64_t mix_number(std::uint64_t hash, std::uint64_t number) {
  return std::rotl(hash ^ number, 29) * 0x9e3779b97f4a7c15;
}

std::uint64_t mix_bytes(std::uint64_t hash, std::span<const std::byte> bytes) {
  constexpr std::size_t kLanes = 4;  // Chains that do not wait for each other.
  std::uint64_t lanes[kLanes] = {hash, hash + 1, hash + 2, hash + 3};
  std::size_t at = 0;
  for (; at + sizeof lanes <= bytes.size(); at += sizeof lanes) {
    std::uint64_t words[kLanes];
    std::memcpy(words, bytes.data() + at, sizeof words);
    for (std::size_t l = 0; l < kLanes; ++l) lanes[l] = mix_number(lanes[l], words[l]);
  }
  for (; at < bytes.size(); ++at) lanes[0] = mix_number(lanes[0], std::to_integer<std::uint64_t>(bytes[at]));
  hash = mix_number(hash, bytes.size());
  for (const std::uint64_t lane : lanes) hash = mix_number(hash, lane);
  return hash;
}

Result<void> read_repack_cache(const std::string& path, const RepackStamp& stamp, std::span<std::byte> to,
                               const ForRanges& for_ranges) {
  const Descriptor file(path);
  if (file.number() < 0) {
    return fail(errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
                fmt::format("{}: cannot open: {}", printable(path), std::generic_category().message(errno)));
  }
  struct stat info {};
  if (::fstat(file.number(), &info) != 0 || !S_ISREG(info.st_mode)) return useless(path, "is no file");
  Header header{};
  if (!file.read(0, std::as_writable_bytes(std::span(header))) || header[kIsMagic] != kMagic)
    return useless(path, "is no repack cache");
  if (header[kIsVersion] != kVersion)
    return useless(path, fmt::format("has version {}, wanted {}", header[kIsVersion], kVersion));
  if (header[kIsHeader] != header_sum(header)) return useless(path, "its header is damaged");
  if (header[kIsModel] != stamp.model) return useless(path, "was made from another model file, or an older one");
  if (header[kIsLayout] != stamp.layout || header[kIsBytes] != to.size())
    return useless(path, "holds the weights in another layout");
  if (stamp.checked && header[kIsChecked] == 0) return useless(path, "was made without the scan for broken numbers");
  if (static_cast<std::size_t>(info.st_size) != weights_at(to.size()) + to.size())
    return useless(path, fmt::format("has {} bytes, wanted {}", info.st_size, weights_at(to.size()) + to.size()));

  std::vector<std::uint64_t> sums(chunks_of(to.size()));
  if (!file.read(sizeof header, std::as_writable_bytes(std::span(sums)))) return useless(path, "cannot be read");
  if (header[kIsTable] != mix_bytes(kHashStart, std::as_bytes(std::span(sums))))
    return useless(path, "its table is damaged");
  std::atomic<bool> unread = false, damaged = false;
  for_ranges(static_cast<int>(sums.size()), [&](int begin, int end) {
    for (std::size_t i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      const std::span<std::byte> part = chunk(to, i);
      if (!file.read(weights_at(to.size()) + i * kChunkBytes, part)) {
        unread = true;
      } else if (mix_bytes(kHashStart, part) != sums[i]) {
        damaged = true;
      }
    }
  });
  if (unread) return useless(path, "cannot be read");
  if (damaged) return useless(path, "its weights are damaged");
  return {};
}

Result<void> write_repack_cache(const std::string& path, const RepackStamp& stamp, std::span<const std::byte> weights,
                                const ForRanges& for_ranges) {
  std::vector<std::uint64_t> sums(chunks_of(weights.size()));
  for_ranges(static_cast<int>(sums.size()), [&](int begin, int end) {
    for (std::size_t i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
      sums[i] = mix_bytes(kHashStart, chunk(weights, i));
  });
  Header header{};
  header[kIsMagic] = kMagic;
  header[kIsVersion] = kVersion;
  header[kIsModel] = stamp.model;
  header[kIsLayout] = stamp.layout;
  header[kIsChecked] = stamp.checked ? 1 : 0;
  header[kIsBytes] = weights.size();
  header[kIsTable] = mix_bytes(kHashStart, std::as_bytes(std::span(sums)));
  header[kIsHeader] = header_sum(header);
  Result<FileWriter> file = FileWriter::create(path);
  if (!file) return fail(file.error());
  const std::span<const std::byte> head = std::as_bytes(std::span(header)), table = std::as_bytes(std::span(sums));
  for (const std::span<const std::byte>& bytes : {head, table, weights}) {
    if (Result<void> written = file->write(bytes); !written) return written;
  }
  return file->close();
}

}  // namespace plait
