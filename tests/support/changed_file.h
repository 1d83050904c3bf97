// ChangedFile: a right model file with something changed.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "io/model_file.h"

namespace plait::test {

// A model file whose metadata and tensors can be changed one by one.
class ChangedFile final : public ModelFile {
 public:
  explicit ChangedFile(const ModelFile& file)
      : metadata_(file.metadata().begin(), file.metadata().end()),
        tensors_(file.tensors().begin(), file.tensors().end()) {}

  ChangedFile& set(std::string_view key, MetadataValue value) {
    remove(key);
    metadata_.push_back({key, std::move(value)});
    return *this;
  }
  ChangedFile& remove(std::string_view key) {
    std::erase_if(metadata_, [&](const MetadataEntry& entry) { return entry.key == key; });
    return *this;
  }
  ChangedFile& remove_tensor(std::string_view name) {
    std::erase_if(tensors_, [&](const RawTensor& tensor) { return tensor.name == name; });
    return *this;
  }
  RawTensor& tensor(std::string_view name) {
    for (RawTensor& tensor : tensors_) {
      if (tensor.name == name) return tensor;
    }
    return tensors_.emplace_back(RawTensor{.name = name});
  }

  std::string_view path() const override { return "changed.gguf"; }
  std::span<const MetadataEntry> metadata() const override { return metadata_; }
  std::span<const RawTensor> tensors() const override { return tensors_; }
  const MetadataValue* find_metadata(std::string_view key) const override {
    for (const MetadataEntry& entry : metadata_) {
      if (entry.key == key) return &entry.value;
    }
    return nullptr;
  }
  const RawTensor* find_tensor(std::string_view name) const override {
    for (const RawTensor& tensor : tensors_) {
      if (tensor.name == name) return &tensor;
    }
    return nullptr;
  }
  void release(const RawTensor&) const override {}

 private:
  std::vector<MetadataEntry> metadata_;
  std::vector<RawTensor> tensors_;
};

}  // namespace plait::test
