// GGUF: magic, version, counts, then the two lists.
#include "io/gguf.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "io/gguf_parts.h"

namespace plait {
namespace {

struct Counts {
  std::uint32_t version = 0;
  std::uint64_t tensors = 0;
  std::uint64_t keys = 0;
};

Unexpected corrupt(std::string_view path, std::string_view what) {
  return fail(ErrorCode::kCorrupt, fmt::format("{}: {}", path, what));
}

// What a file that is not GGUF most often is, for the message.
std::string_view likely_cause(std::string_view start) {
  if (start.starts_with("version https://git-lfs")) return "; it is a Git LFS pointer, not the file itself";
  if (start.starts_with("<!") || start.starts_with("<html")) return "; it is a web page, not the file itself";
  if (start.starts_with("PK")) return "; it is an archive or a PyTorch file";
  if (start.starts_with("ggjt") || start.starts_with("tjgg")) return "; it is of a format that came before GGUF";
  return "";
}

Result<std::uint32_t> read_version(std::string_view path, ByteReader& reader, std::string_view start) {
  std::string_view magic;
  if (reader.left() == 0) return corrupt(path, "the file is empty");
  if (!reader.read_text(4, magic) || magic != "GGUF") {
    return corrupt(path, fmt::format("is not a GGUF file: it begins with '{}', wanted 'GGUF'{}",
                                     printable(start.substr(0, 4)), likely_cause(start)));
  }
  std::uint32_t version = 0;
  if (!reader.read(version)) return corrupt(path, "the file ends inside its version");
  const auto unsupported = [&](std::string_view what) {
    return fail(ErrorCode::kUnsupported, fmt::format("{}: {}", path, what));
  };
  if (version != 0 && (version & 0xffffu) == 0) {
    return unsupported(
        fmt::format("is a big-endian GGUF file (its version reads as {:#010x}), wanted little-endian; "
                    "convert it again for this machine",
                    version));
  }
  if (version == 1) return unsupported("is GGUF version 1, which is no longer in use; wanted 2 or 3");
  if (version != 2 && version != 3) return unsupported(fmt::format("is GGUF version {}, wanted 2 or 3", version));
  return version;
}

Result<std::uint64_t> read_count(std::string_view path, ByteReader& reader, std::string_view what) {
  std::uint64_t count = 0;
  if (!reader.read(count)) return corrupt(path, fmt::format("the file ends inside its number of {}", what));
  return count;
}

Result<void> check_count(std::string_view path, std::string_view what, std::uint64_t count, std::uint64_t most,
                         std::uint64_t room) {
  // The format has signed readers and unsigned ones: what is shown is what either calls it.
  if (count > INT64_MAX) {
    return corrupt(path, fmt::format("has {} {} (read with a sign: {}), at most {} are allowed", count, what,
                                     static_cast<std::int64_t>(count), most));
  }
  if (count > most) return corrupt(path, fmt::format("has {} {}, at most {} are allowed", count, what, most));
  if (count > room) {
    return corrupt(path,
                   fmt::format("has {} {}, but the bytes that follow have room for {} at most", count, what, room));
  }
  return {};
}

Result<Counts> read_counts(std::string_view path, ByteReader& reader, std::string_view start) {
  Counts out;
  auto version = read_version(path, reader, start);
  if (!version) return fail(std::move(version.error()));
  out.version = *version;
  auto tensors = read_count(path, reader, "tensors");
  if (!tensors) return fail(std::move(tensors.error()));
  out.tensors = *tensors;
  auto keys = read_count(path, reader, "metadata keys");
  if (!keys) return fail(std::move(keys.error()));
  out.keys = *keys;
  const std::uint64_t left = reader.left();
  auto fits = check_count(path, "tensors", out.tensors, GgufLimits::kTensors, left / kLeastTensorBytes);
  if (fits) fits = check_count(path, "metadata keys", out.keys, GgufLimits::kKeys, left / kLeastKeyBytes);
  if (!fits) return fail(std::move(fits.error()));
  return out;
}

Result<std::int64_t> read_alignment(std::string_view path, const Gguf& gguf) {
  const MetadataValue* const value = gguf.find("general.alignment");
  if (value == nullptr) return gguf.alignment;
  const auto* const alignment = std::get_if<std::int64_t>(value);
  if (alignment == nullptr) return corrupt(path, "key 'general.alignment' is no integer");
  const bool power_of_two = *alignment > 0 && (*alignment & (*alignment - 1)) == 0;
  if (!power_of_two || *alignment < GgufLimits::kLeastAlignment || *alignment > GgufLimits::kMostAlignment) {
    return corrupt(path, fmt::format("key 'general.alignment' is {}, wanted a power of two from {} to {}", *alignment,
                                     GgufLimits::kLeastAlignment, GgufLimits::kMostAlignment));
  }
  return *alignment;
}

}  // namespace

const MetadataValue* Gguf::find(std::string_view key) const {
  const std::ptrdiff_t at = keys.find(key);
  return at < 0 ? nullptr : &metadata[static_cast<std::size_t>(at)].value;
}

Result<Gguf> parse_gguf(std::string_view raw_path, std::span<const std::byte> bytes) {
  const std::string path = printable(raw_path);
  ByteReader reader(bytes);
  const std::string_view start(reinterpret_cast<const char*>(bytes.data()), std::min<std::size_t>(bytes.size(), 64));
  auto counts = read_counts(path, reader, start);
  if (!counts) return fail(std::move(counts.error()));
  Gguf out;
  out.version = counts->version;

  auto metadata = read_gguf_metadata(path, reader, counts->keys);
  if (!metadata) return fail(std::move(metadata.error()));
  out.metadata = std::move(*metadata);
  out.keys = NameIndex(out.metadata.size(), [&](std::size_t i) { return out.metadata[i].key; });
  if (const auto twice = out.keys.duplicate(); !twice.empty()) {
    return corrupt(path, fmt::format("key '{}' occurs twice", twice));
  }
  auto alignment = read_alignment(path, out);
  if (!alignment) return fail(std::move(alignment.error()));
  out.alignment = *alignment;

  if (auto fits =
          check_count(path, "tensors", counts->tensors, GgufLimits::kTensors, reader.left() / kLeastTensorBytes);
      !fits) {
    return fail(std::move(fits.error()));
  }
  auto tensors = read_gguf_tensors(path, bytes, reader, counts->tensors, out.alignment);
  if (!tensors) return fail(std::move(tensors.error()));
  out.tensors = std::move(*tensors);
  out.names = NameIndex(out.tensors.size(), [&](std::size_t i) { return out.tensors[i].name; });
  if (const auto twice = out.names.duplicate(); !twice.empty()) {
    return corrupt(path, fmt::format("tensor name '{}' occurs twice", twice));
  }
  return out;
}

}  // namespace plait
