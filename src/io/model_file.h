// ModelFile: a model's metadata by key and its tensors by name, whatever the file format.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "formats/raw_tensor.h"
#include "io/mapped_file.h"
#include "plait/result.h"

namespace plait {

// A metadata value. Integers of every width are int64 (u64 beyond int64 is refused when read), floats are double.
// Strings are views into memory that the file owns.
using MetadataValue = std::variant<bool, std::int64_t, double, std::string_view, std::vector<bool>,
                                   std::vector<std::int64_t>, std::vector<double>, std::vector<std::string_view>>;

struct MetadataEntry {
  std::string_view key;
  MetadataValue value;
};

class ModelFile {
 public:
  virtual ~ModelFile() = default;
  virtual std::string_view path() const = 0;                    // For messages.
  virtual std::span<const MetadataEntry> metadata() const = 0;  // In file order.
  virtual std::span<const RawTensor> tensors() const = 0;       // In file order; of a split set, all parts.
  virtual const MetadataValue* find_metadata(std::string_view key) const = 0;  // Null: not there.
  virtual const RawTensor* find_tensor(std::string_view name) const = 0;       // Null: not there.
  // Of each file it was opened from; empty for bytes in memory.
  virtual std::vector<FileStamp> stamps() const { return {}; }

  // The tensor's bytes have been copied and will not be read again: their pages may go back to the system.
  virtual void release(const RawTensor& tensor) const = 0;
};

struct OpenOptions {
  bool use_mmap = true;      // false: the file is read into memory.
  bool lock_memory = false;  // mlock; failing is an error.
};

// Opens a GGUF file (of a split set: the first part, which brings the others). Reads and checks the header only.
Result<std::unique_ptr<ModelFile>> open_model_file(const std::string& path, const OpenOptions& options = {});

// The same over bytes in memory; `name` stands in messages for the path.
Result<std::unique_ptr<ModelFile>> open_model_bytes(std::string name, std::vector<std::byte> bytes);

}  // namespace plait
