// The two lists of a GGUF header, read one after the other. Internal to the reader.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "io/byte_reader.h"
#include "io/gguf.h"

namespace plait {

// Least bytes of an entry: what a count is checked against before it sizes a list.
inline constexpr std::uint64_t kLeastKeyBytes = 8 + 1 + 4 + 1;         // Length, one letter, type, a u8.
inline constexpr std::uint64_t kLeastTensorBytes = 8 + 1 + 4 + 4 + 8;  // Length, one letter, no extents, type, offset.

// Reads `count` keys and their values.
Result<std::vector<MetadataEntry>> read_gguf_metadata(std::string_view path, ByteReader& reader, std::uint64_t count);

// Reads `count` tensor records, then finds their data behind them, at multiples of `alignment`.
Result<std::vector<RawTensor>> read_gguf_tensors(std::string_view path, std::span<const std::byte> bytes,
                                                 ByteReader& reader, std::uint64_t count, std::int64_t alignment);

}  // namespace plait
