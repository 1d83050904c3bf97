// GgufWriter: writes a GGUF file (version 3), tensor by tensor, without holding the model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "formats/format.h"
#include "plait/result.h"

namespace plait {

using GgufValue =
    std::variant<bool, std::uint32_t, std::int32_t, std::uint64_t, float, std::string, std::vector<bool>,
                 std::vector<std::uint32_t>, std::vector<std::int32_t>, std::vector<float>, std::vector<std::string>>;

struct GgufEntry {
  std::string key;
  GgufValue value;
};

struct GgufTensor {
  std::string name;
  const Format* format = nullptr;
  std::vector<std::int64_t> extents;  // extents[0], the length of a row, is a multiple of the format's block.

  std::size_t bytes() const;
};

// Everything before the tensor data, padded to where the data starts. Alone it is a file without data.
std::vector<std::byte> gguf_header(std::span<const GgufEntry> metadata, std::span<const GgufTensor> tensors);

// The file appears under its name only when it is complete: until then it is `path`.partial, which is removed if the
// writer goes without finish(). What is there and no regular file (a pipe, a device) is written directly.
//
//   create (write)* finish
class GgufWriter {
 public:
  static Result<GgufWriter> create(const std::string& path, std::span<const GgufEntry> metadata,
                                   std::vector<GgufTensor> tensors);
  GgufWriter(GgufWriter&& other) noexcept = default;
  GgufWriter& operator=(GgufWriter&&) = delete;
  ~GgufWriter();

  // The next bytes of the tensors, in the order of the list; padding is added between tensors. A call must not reach
  // from one tensor into the next.
  Result<void> write(std::span<const std::byte> bytes);

  // All tensors are written: makes sure that the bytes are on the disk, then gives the file its name.
  Result<void> finish();

  std::size_t bytes_written() const { return written_; }

 private:
  GgufWriter(std::string path, std::vector<GgufTensor> tensors);
  Result<void> open();
  Result<void> put(std::span<const std::byte> bytes);
  void skip_empty_tensors();
  Unexpected system_error() const;

  std::string path_;
  std::string partial_;  // Empty: written directly.
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::vector<GgufTensor> tensors_;
  std::size_t tensor_ = 0;          // The tensor that is being written,
  std::size_t tensor_written_ = 0;  // and how much of it there is.
  std::size_t written_ = 0;
};

}  // namespace plait
