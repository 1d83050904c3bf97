// Values of one tensor as f32.
#include "examine/values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "io/file_writer.h"

namespace plait {
namespace {

constexpr std::int64_t kChunkValues = 1 << 20;  // Decoded at once: whole rows, at least one.

}  // namespace

Result<const RawTensor*> tensor_named(const ModelFile& file, std::string_view name) {
  if (const RawTensor* const found = file.find_tensor(name)) return found;
  return fail(ErrorCode::kNotFound,
              fmt::format("{}: has no tensor '{}'; `plait inspect --tensors` lists the {} that it has",
                          printable(file.path()), printable(name), file.tensors().size()));
}

std::string shape_text(const RawTensor& tensor) {
  return fmt::format("[{}]", fmt::join(tensor.extents.begin(), tensor.extents.begin() + tensor.dimensions, ", "));
}

Result<void> decode_tensor(const RawTensor& tensor, const ValuesSink& sink) {
  if (tensor.format->decode == nullptr) {
    return fail(ErrorCode::kUnsupported, fmt::format("tensor '{}' has the type {}, which is not decoded to f32",
                                                     printable(tensor.name), tensor.format->info.name));
  }
  const std::int64_t rows = tensor.rows(), cols = tensor.cols();
  const std::int64_t chunk_rows = std::clamp<std::int64_t>(kChunkValues / cols, 1, rows);
  const std::size_t row_bytes = tensor.bytes / static_cast<std::size_t>(rows);
  std::vector<float> values(static_cast<std::size_t>(chunk_rows * cols));
  for (std::int64_t begin = 0; begin < rows; begin += chunk_rows) {
    const std::int64_t count = std::min(chunk_rows, rows - begin);
    for (std::int64_t i = 0; i < count; ++i) {
      tensor.format->decode(tensor.data + static_cast<std::size_t>(begin + i) * row_bytes, cols,
                            values.data() + i * cols);
    }
    if (auto taken = sink({values.data(), static_cast<std::size_t>(count * cols)}); !taken) return taken;
  }
  return {};
}

Result<void> write_values(const RawTensor& tensor, const std::string& out_path, const std::function<bool()>& stop) {
  auto out = FileWriter::create(out_path);
  if (!out) return fail(std::move(out.error()));
  auto done = decode_tensor(tensor, [&](std::span<const float> values) -> Result<void> {
    if (stop && stop()) return fail(ErrorCode::kCancelled, "interrupted");
    return out->write(values);
  });
  return done ? out->close() : done;
}

}  // namespace plait
