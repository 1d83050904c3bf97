// The GGUF reader on damaged files: cut anywhere, any byte changed. It refuses or reads, and never goes outside the
// bytes.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/model_file.h"
#include "support/gguf_bytes.h"

namespace plait {
namespace {

// Bytes of their exact size on the heap, so that a sanitizer sees a read behind them.
Result<std::unique_ptr<ModelFile>> open_exactly(const std::byte* bytes, std::size_t size) {
  return open_model_bytes("m.gguf", std::vector<std::byte>(bytes, bytes + size));
}

// Uses all that the file gave; returns how much text and how many values there were.
std::size_t use_everything(const ModelFile& model) {
  std::size_t used = 0;
  for (const MetadataEntry& entry : model.metadata()) {
    used += entry.key.size();
    if (const auto* text = std::get_if<std::string_view>(&entry.value)) used += std::string(*text).size();
    if (const auto* texts = std::get_if<std::vector<std::string_view>>(&entry.value)) {
      for (const auto text : *texts) used += std::string(text).size();
    }
    EXPECT_EQ(model.find_metadata(entry.key), &entry.value);
  }
  std::vector<float> row;
  for (const RawTensor& tensor : model.tensors()) {
    if (tensor.format->decode == nullptr) continue;
    row.resize(static_cast<std::size_t>(tensor.cols()));
    const std::size_t row_bytes = tensor.bytes / static_cast<std::size_t>(tensor.rows());
    for (std::int64_t i = 0; i < tensor.rows(); ++i) {
      tensor.format->decode(tensor.data + static_cast<std::size_t>(i) * row_bytes, tensor.cols(), row.data());
      used += row.size();
    }
    EXPECT_EQ(model.find_tensor(tensor.name), &tensor);
  }
  return used;
}

TEST(GgufCorruption, AFileCutAtAnyByteIsRefused) {
  const std::vector<std::byte> bytes = small_gguf().build();
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(open_exactly(bytes.data(), size)) << size;
  EXPECT_TRUE(open_exactly(bytes.data(), bytes.size()));
}

TEST(GgufCorruption, AnyByteMayTakeAnyValue) {
  std::vector<std::byte> bytes = small_gguf().build();
  std::size_t opened = 0;
  for (std::byte& byte : bytes) {
    const std::byte right = byte;
    for (int change = 1; change < 256; ++change) {
      byte = right ^ static_cast<std::byte>(change);
      const auto model = open_exactly(bytes.data(), bytes.size());
      if (model) opened += use_everything(**model) > 0 ? 1 : 0;
      EXPECT_TRUE(model || !model.error().message.empty());
    }
    byte = right;
  }
  EXPECT_GT(opened, 1000u);  // Values and names change without harm; the test is not one of refusals alone.
}

TEST(GgufCorruption, TwoBytesInTheHeaderMayTakeExtremeValues) {
  std::vector<std::byte> bytes = small_gguf().build();
  for (std::size_t i = 4; i + 1 < bytes.size(); ++i) {
    for (std::size_t j = i + 1; j < bytes.size() && j < i + 9; ++j) {
      const std::byte first = bytes[i], second = bytes[j];
      for (const int value : {0, 0x7f, 0x80, 0xff}) {
        bytes[i] = bytes[j] = static_cast<std::byte>(value);
        if (const auto model = open_exactly(bytes.data(), bytes.size()); model) use_everything(**model);
      }
      bytes[i] = first;
      bytes[j] = second;
    }
  }
}

}  // namespace
}  // namespace plait
