// WidenedFile: another model file with every matrix decoded to f32.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "formats/all.h"
#include "io/model_file.h"

namespace plait::test {

class WidenedFile final : public ModelFile {
 public:
  explicit WidenedFile(const ModelFile& file) : file_(file) {
    for (const RawTensor& raw : file.tensors()) {
      std::vector<float>& values = values_.emplace_back(static_cast<std::size_t>(raw.values()));
      const std::size_t row_bytes = raw.bytes / static_cast<std::size_t>(raw.rows());
      for (std::int64_t row = 0; row < raw.rows(); ++row) {
        raw.format->decode(raw.data + static_cast<std::size_t>(row) * row_bytes, raw.cols(),
                           values.data() + row * raw.cols());
      }
      RawTensor& wide = tensors_.emplace_back(raw);
      wide.format = find_format("f32");
      wide.data = reinterpret_cast<const std::byte*>(values.data());
      wide.bytes = values.size() * sizeof(float);
    }
  }

  std::string_view path() const override { return file_.path(); }
  std::span<const MetadataEntry> metadata() const override { return file_.metadata(); }
  std::span<const RawTensor> tensors() const override { return tensors_; }
  const MetadataValue* find_metadata(std::string_view key) const override { return file_.find_metadata(key); }
  const RawTensor* find_tensor(std::string_view name) const override {
    for (const RawTensor& tensor : tensors_) {
      if (tensor.name == name) return &tensor;
    }
    return nullptr;
  }
  void release(const RawTensor&) const override {}

 private:
  const ModelFile& file_;
  std::deque<std::vector<float>> values_;
  std::vector<RawTensor> tensors_;
};

}  // namespace plait::test
