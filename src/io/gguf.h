// GGUF: metadata and tensor table of one file, read and checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "formats/raw_tensor.h"
#include "io/model_file.h"
#include "io/name_index.h"
#include "plait/result.h"

namespace plait {

// Beyond these a file is refused. Every count is also bounded by the bytes that remain, before it sizes any memory.
struct GgufLimits {
  static constexpr std::uint64_t kKeys = 1u << 16;
  static constexpr std::uint64_t kTensors = 1u << 20;
  static constexpr std::uint64_t kKeyBytes = 65'535;
  static constexpr std::uint64_t kStringBytes = 1u << 30;
  static constexpr std::uint64_t kArrayElements = 1u << 24;  // A vocabulary has about a million at most.
  static constexpr std::uint64_t kTensorNameBytes = 63;
  static constexpr std::uint32_t kDimensions = 4;
  static constexpr std::int64_t kExtent = (std::int64_t{1} << 31) - 1;  // Of a row, and of all rows together.
  static constexpr std::int64_t kLeastAlignment = 8;
  static constexpr std::int64_t kMostAlignment = 1 << 30;
};

// Views into the bytes that were parsed; they must outlive it. Moving it keeps the views.
struct Gguf {
  std::uint32_t version = 0;
  std::int64_t alignment = 32;
  std::vector<MetadataEntry> metadata;  // In file order.
  std::vector<RawTensor> tensors;       // In file order; all lie inside the bytes and none overlap.
  NameIndex keys;
  NameIndex names;

  const MetadataValue* find(std::string_view key) const;
};

// Reads versions 2 and 3. `path` stands in messages. Tensor data is not looked at.
Result<Gguf> parse_gguf(std::string_view path, std::span<const std::byte> bytes);

}  // namespace plait
