// Tensor table of a GGUF header: name, extents, type, and where the data lies.
#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "formats/all.h"
#include "io/gguf_parts.h"

namespace plait {
namespace {

struct Record {
  RawTensor tensor;
  std::uint64_t offset = 0;  // Inside the data section.
};

class TensorReader {
 public:
  TensorReader(std::string_view path, ByteReader& reader) : path_(path), reader_(reader) {}

  Result<Record> record(std::uint64_t index, std::uint64_t count) {
    where_ = fmt::format("tensor {} of {}", index + 1, count);
    Record out;
    if (auto done = name(out.tensor.name); !done) return fail(std::move(done.error()));
    where_ = fmt::format("tensor '{}'", out.tensor.name);
    if (auto done = extents(out.tensor); !done) return fail(std::move(done.error()));
    std::uint32_t type = 0;
    if (!reader_.read(type) || !reader_.read(out.offset)) return ends();
    if (auto done = size(type, out.tensor); !done) return fail(std::move(done.error()));
    return out;
  }

 private:
  Unexpected wrong(std::string_view what, ErrorCode code = ErrorCode::kCorrupt) const {
    return fail(code, fmt::format("{}: {}: {}", path_, where_, what));
  }
  Unexpected ends() const {
    return fail(ErrorCode::kCorrupt, fmt::format("{}: the file ends inside {}", path_, where_));
  }

  Result<void> name(std::string_view& out) {
    std::uint64_t length = 0;
    if (!reader_.read(length)) return ends();
    if (length == 0) return wrong("the name is empty");
    if (length > GgufLimits::kTensorNameBytes) {
      return wrong(fmt::format("the name has {} bytes, at most {} are allowed", length, GgufLimits::kTensorNameBytes));
    }
    if (!reader_.read_text(length, out)) return ends();
    if (!is_printable(out)) return wrong(fmt::format("the name has control characters, '{}'", printable(out)));
    return {};
  }

  Result<void> extents(RawTensor& tensor) {
    std::uint32_t dimensions = 0;
    if (!reader_.read(dimensions)) return ends();
    if (dimensions > GgufLimits::kDimensions) {
      return wrong(fmt::format("has {} dimensions, at most {} are allowed", dimensions, GgufLimits::kDimensions));
    }
    tensor.dimensions = std::max(1, static_cast<int>(dimensions));  // None: a single value.
    std::int64_t rows = 1;
    for (std::uint32_t i = 0; i < dimensions; ++i) {
      std::int64_t& extent = tensor.extents[i];
      if (!reader_.read(extent)) return ends();
      if (extent < 1 || extent > GgufLimits::kExtent) {
        return wrong(fmt::format("extent {} is {}, wanted 1 to {}", i, extent, GgufLimits::kExtent));
      }
      if (i == 0) continue;
      if (extent > GgufLimits::kExtent / rows) {
        return wrong(fmt::format("has more than {} rows", GgufLimits::kExtent));
      }
      rows *= extent;
    }
    return {};
  }

  // Format and bytes. The extents are below 2^31 each and the rows together, so only the last product can overflow.
  Result<void> size(std::uint32_t type, RawTensor& tensor) {
    tensor.format = type <= 0xffffu ? find_format(static_cast<int>(type)) : nullptr;
    if (tensor.format == nullptr) return unknown_type(type);
    const FormatInfo& info = tensor.format->info;
    if (tensor.cols() % info.block_values != 0) {
      return wrong(fmt::format("its rows have {} values, no multiple of the {} of a {} block", tensor.cols(),
                               info.block_values, info.name));
    }
    const std::int64_t row_bytes = tensor.cols() / info.block_values * info.block_bytes;
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(row_bytes, tensor.rows(), &bytes)) {
      return wrong(fmt::format("{} rows of {} bytes are more than 64 bits can count", tensor.rows(), row_bytes));
    }
    tensor.bytes = static_cast<std::size_t>(bytes);
    return {};
  }

  Unexpected unknown_type(std::uint32_t type) const {
    const std::string_view name = type <= 0xffffu ? unsupported_format_name(static_cast<int>(type)) : "";
    if (name.starts_with("retired")) {
      return wrong(
          fmt::format("type {} ({}) is no longer in use; download the model again or requantize it", type, name),
          ErrorCode::kUnsupported);
    }
    if (!name.empty()) {
      return wrong(fmt::format("type {} ({}) is not stored in model files that plait reads", type, name),
                   ErrorCode::kUnsupported);
    }
    return wrong(fmt::format("type {} is not known; it may belong to another program or a newer version of GGUF", type),
                 ErrorCode::kUnsupported);
  }

  std::string_view path_;
  ByteReader& reader_;
  std::string where_;
};

// Checks where the data of each tensor lies and sets its pointer.
Result<void> place(std::string_view path, std::span<const std::byte> data, std::vector<Record>& records,
                   std::int64_t alignment) {
  for (Record& record : records) {
    RawTensor& tensor = record.tensor;
    const auto wrong = [&](std::string_view what) {
      return fail(ErrorCode::kCorrupt, fmt::format("{}: tensor '{}': {}", path, tensor.name, what));
    };
    if (record.offset % static_cast<std::uint64_t>(alignment) != 0) {
      return wrong(fmt::format("offset {} is not a multiple of {}", record.offset, alignment));
    }
    if (record.offset > data.size() || tensor.bytes > data.size() - record.offset) {
      return wrong(fmt::format("has {} bytes at offset {} of the data, but the file ends at {}; it may be cut short",
                               tensor.bytes, record.offset, data.size()));
    }
    tensor.data = data.data() + record.offset;
  }
  std::vector<const RawTensor*> order;
  order.reserve(records.size());
  for (const Record& record : records) order.push_back(&record.tensor);
  std::sort(order.begin(), order.end(), [](const RawTensor* a, const RawTensor* b) { return a->data < b->data; });
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (order[i - 1]->data + order[i - 1]->bytes > order[i]->data) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("{}: tensors '{}' and '{}' overlap", path, order[i - 1]->name, order[i]->name));
    }
  }
  return {};
}

}  // namespace

Result<std::vector<RawTensor>> read_gguf_tensors(std::string_view path, std::span<const std::byte> bytes,
                                                 ByteReader& reader, std::uint64_t count, std::int64_t alignment) {
  std::vector<Record> records;
  records.reserve(static_cast<std::size_t>(count));
  TensorReader table(path, reader);
  for (std::uint64_t i = 0; i < count; ++i) {
    auto record = table.record(i, count);
    if (!record) return fail(std::move(record.error()));
    records.push_back(*record);
  }
  // A file without tensors may end before the padding.
  const std::size_t step = static_cast<std::size_t>(alignment);
  const std::size_t begin = std::min((reader.position() + step - 1) / step * step, bytes.size());
  if (auto done = place(path, bytes.subspan(begin), records, alignment); !done) return fail(std::move(done.error()));
  std::vector<RawTensor> out;
  out.reserve(records.size());
  for (const Record& record : records) out.push_back(record.tensor);
  return out;
}

}  // namespace plait
