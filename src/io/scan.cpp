// The scan for NaN and infinity: by the place of the scales in a block, else by the format's own definition.
#include "io/scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/text.h"

namespace plait {
namespace {

// Where the f16 scales lie in a block, for the formats whose only numbers that can fail to be finite they are. One that
// is not listed here is scanned by its definition, group by group, which is slower.
struct ScaleFields {
  std::string_view format;
  int first;
  int second = -1;
};
constexpr ScaleFields kScaleFields[] = {
    {"q4_0", 0},   {"q4_1", 0, 2}, {"q5_0", 0},    {"q5_1", 0, 2}, {"q8_0", 0},    {"q2_k", 80, 82},
    {"q3_k", 108}, {"q4_k", 0, 2}, {"q5_k", 0, 2}, {"q6_k", 208},  {"iq1_s", 0},   {"iq2_xxs", 0},
    {"iq2_xs", 0}, {"iq2_s", 0},   {"iq3_xxs", 0}, {"iq3_s", 0},   {"iq4_nl", 0},  {"iq4_xs", 0},
    {"tq1_0", 52}, {"tq2_0", 64},  {"q1_0", 0},    {"q2_0", 0},    {"q2_g128", 0},
};

// Whether any of `count` numbers, `stride` bytes apart, has an exponent of ones. No early end: the loop is vectorized.
template <class Bits, Bits kExponent>
bool any_not_finite(const std::byte* at, std::int64_t count, std::ptrdiff_t stride) {
  bool found = false;
  for (std::int64_t i = 0; i < count; ++i) {
    Bits bits;
    std::memcpy(&bits, at + i * stride, sizeof(bits));
    found |= (bits & kExponent) == kExponent;
  }
  return found;
}

constexpr auto any_f16 = any_not_finite<std::uint16_t, 0x7c00u>;
constexpr auto any_bf16 = any_not_finite<std::uint16_t, 0x7f80u>;
constexpr auto any_f32 = any_not_finite<std::uint32_t, 0x7f800000u>;

// Counted as the f32 that it will be: beyond its range is infinite too.
bool any_f64(const std::byte* at, std::int64_t count) {
  bool found = false;
  for (std::int64_t i = 0; i < count; ++i) {
    double value;
    std::memcpy(&value, at + i * 8, sizeof(value));
    found |= !std::isfinite(static_cast<float>(value));
  }
  return found;
}

// Whether the value of largest magnitude is finite, too: the product with an f32 scale may not be.
bool is_finite_part(const std::int8_t* values, int count, float scale) {
  int largest = 0;
  for (int i = 0; i < count; ++i) largest = std::max(largest, std::abs(int{values[i]}));
  return std::isfinite(static_cast<float>(largest) * scale);
}

bool any_group(const Format& format, const std::byte* row, std::int64_t blocks) {
  const int parts = format.info.scales_per_group, size = 32 / parts;
  for (std::int64_t b = 0; b < blocks; ++b) {
    for (int g = 0; g < format.info.block_values / 32; ++g) {
      Group group;
      format.group(row + b * format.info.block_bytes, g, group);
      for (int s = 0; s < parts; ++s) {
        if (!is_finite_part(group.values + size * s, size, group.scales[s]) ||
            (format.info.has_mins && !std::isfinite(group.mins[s])))
          return true;
      }
    }
  }
  return false;
}

// The exponent byte 255 decodes to a large finite number, but the standard calls it NaN and no encoder writes it.
bool any_mxfp4(const std::byte* row, std::int64_t blocks, std::ptrdiff_t block_bytes) {
  bool found = false;
  for (std::int64_t b = 0; b < blocks; ++b) found |= row[b * block_bytes] == std::byte{255};
  return found;
}

// How the rows of one tensor are scanned; made once, so that nothing is looked up for each row.
class RowScan {
 public:
  explicit RowScan(const RawTensor& tensor)
      : format_(*tensor.format), cols_(tensor.cols()), blocks_(row_blocks(format_.info, cols_)) {
    for (const ScaleFields& fields : kScaleFields) {
      if (fields.format == format_.info.name) fields_ = &fields;
    }
  }

  bool finds(const std::byte* row) const {
    const FormatInfo& info = format_.info;
    if (fields_ != nullptr) {
      return any_f16(row + fields_->first, blocks_, info.block_bytes) ||
             (fields_->second >= 0 && any_f16(row + fields_->second, blocks_, info.block_bytes));
    }
    if (info.name == "f32") return any_f32(row, cols_, 4);
    if (info.name == "f16") return any_f16(row, cols_, 2);
    if (info.name == "bf16") return any_bf16(row, cols_, 2);
    if (info.name == "f64") return any_f64(row, cols_);
    if (info.name == "mxfp4") return any_mxfp4(row, blocks_, info.block_bytes);
    return format_.group != nullptr && any_group(format_, row, blocks_);
  }

 private:
  const Format& format_;
  std::int64_t cols_;
  std::int64_t blocks_;
  const ScaleFields* fields_ = nullptr;
};

}  // namespace

Result<void> scan_rows(const RawTensor& tensor, std::int64_t begin, std::int64_t count) {
  if (count <= 0) return {};
  const RowScan scan(tensor);
  const std::size_t row_bytes = tensor.bytes / static_cast<std::size_t>(tensor.rows());
  for (std::int64_t row = begin; row < begin + count; ++row) {
    if (scan.finds(tensor.data + static_cast<std::size_t>(row) * row_bytes)) {
      const bool is_float = tensor.format->group == nullptr;
      return fail(ErrorCode::kCorrupt,
                  fmt::format("tensor '{}', row {} of {}: a {} is infinite or no number ({}), wanted finite ones",
                              printable(tensor.name), row, tensor.rows(), is_float ? "value" : "scale",
                              tensor.format->info.name));
    }
  }
  return {};
}

Result<void> scan_tensor(const RawTensor& tensor) { return scan_rows(tensor, 0, tensor.rows()); }

}  // namespace plait
