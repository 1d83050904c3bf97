// The scan for NaN and infinity, by the definition of each format.
#include "io/scan.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "base/text.h"

namespace plait {
namespace {

bool block_is_finite(const Format& format, const std::byte* block) {
  for (int g = 0; g < (format.info.block_values + 31) / 32; ++g) {
    Group group;
    format.group(block, g, group);
    for (int s = 0; s < format.info.scales_per_group; ++s) {
      if (!std::isfinite(group.scales[s]) || (format.info.has_mins && !std::isfinite(group.mins[s]))) return false;
    }
  }
  return true;
}

bool row_is_finite(const RawTensor& tensor, const std::byte* row, std::vector<float>& values) {
  if (tensor.format->info.is_float) {
    tensor.format->decode(row, tensor.cols(), values.data());
    for (const float value : values) {
      if (!std::isfinite(value)) return false;
    }
    return true;
  }
  for (std::int64_t b = 0; b < tensor.cols() / tensor.format->info.block_values; ++b) {
    if (!block_is_finite(*tensor.format, row + b * tensor.format->info.block_bytes)) return false;
  }
  return true;
}

}  // namespace

Result<void> scan_tensor(const RawTensor& tensor) {
  if (tensor.rows() == 0) return {};
  const std::size_t row_bytes = tensor.bytes / static_cast<std::size_t>(tensor.rows());
  std::vector<float> values(tensor.format->info.is_float ? static_cast<std::size_t>(tensor.cols()) : 0);
  for (std::int64_t row = 0; row < tensor.rows(); ++row) {
    if (!row_is_finite(tensor, tensor.data + static_cast<std::size_t>(row) * row_bytes, values)) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("tensor '{}' has a value or scale in row {} that is not a finite number",
                              printable(tensor.name), row));
    }
  }
  return {};
}

}  // namespace plait
