// ModelFile over GGUF: one file, a split set, or bytes in memory.
#include "io/model_file.h"

#include <sys/stat.h>

#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "io/gguf.h"
#include "io/gguf_split.h"
#include "io/mapped_file.h"

namespace plait {
namespace {

class GgufModel final : public ModelFile {
 public:
  GgufModel(std::string path, std::vector<std::byte> bytes) : path_(std::move(path)), bytes_(std::move(bytes)) {}

  std::string_view path() const override { return path_; }
  std::span<const MetadataEntry> metadata() const override { return content_.metadata; }
  std::span<const RawTensor> tensors() const override { return content_.tensors; }
  const MetadataValue* find_metadata(std::string_view key) const override { return content_.find(key); }
  const RawTensor* find_tensor(std::string_view name) const override {
    const std::ptrdiff_t at = content_.names.find(name);
    return at < 0 ? nullptr : &content_.tensors[static_cast<std::size_t>(at)];
  }

  std::vector<FileStamp> stamps() const override {
    std::vector<FileStamp> stamps;
    for (const MappedFile& file : files_) stamps.push_back(file.stamp());
    return stamps;
  }

  void release(const RawTensor& tensor) const override {
    for (const MappedFile& file : files_) {
      if (file.contains(tensor.data)) file.release({tensor.data, tensor.bytes});
    }
  }

  // Opens, maps and parses one file; keeps the file.
  Result<Gguf> add_file(const std::string& path, const OpenOptions& options) {
    auto file = MappedFile::open(path, options.use_mmap);
    if (!file) return fail(std::move(file.error()));
    auto gguf = parse_gguf(path, file->bytes());
    if (!gguf) return gguf;
    if (options.lock_memory) {
      if (auto done = file->lock(path); !done) return fail(std::move(done.error()));
    }
    files_.push_back(std::move(*file));
    return gguf;
  }

  Result<void> load_file(const OpenOptions& options);
  Result<void> load_bytes();

 private:
  Result<void> add_parts(const SplitKeys& keys, const OpenOptions& options);

  std::string path_;
  std::vector<std::byte> bytes_;   // Of open_model_bytes.
  std::vector<MappedFile> files_;  // Of open_model_file: one for each part.
  Gguf content_;
};

Result<void> GgufModel::load_bytes() {
  auto gguf = parse_gguf(path_, bytes_);
  if (!gguf) return fail(std::move(gguf.error()));
  content_ = std::move(*gguf);
  auto keys = split_keys(path_, content_);
  if (!keys) return fail(std::move(keys.error()));
  if (keys->count > 1) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("{}: is part {} of {} of a split set, which must be opened as files", printable(path_),
                            keys->part, keys->count));
  }
  return {};
}

Result<void> GgufModel::load_file(const OpenOptions& options) {
  auto gguf = add_file(path_, options);
  if (!gguf) return fail(std::move(gguf.error()));
  content_ = std::move(*gguf);
  auto keys = split_keys(path_, content_);
  if (!keys) return fail(std::move(keys.error()));
  return keys->count > 1 ? add_parts(*keys, options) : Result<void>{};
}

Result<void> GgufModel::add_parts(const SplitKeys& keys, const OpenOptions& options) {
  const std::string shown = printable(path_);
  const auto wrong = [](std::string message) { return fail(ErrorCode::kCorrupt, std::move(message)); };
  const auto name = split_name(path_);
  if (!name || name->count != keys.count || name->part != keys.part) {
    return wrong(fmt::format("{}: says it is part {} of {}, so its name must end in -{:05}-of-{:05}.gguf", shown,
                             keys.part, keys.count, keys.part, keys.count));
  }
  if (keys.part != 1) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("{}: is part {} of {}; open the first part, {}", shown,
                                                         keys.part, keys.count, printable(name->path_of(1))));
  }
  for (int part = 2; part <= keys.count; ++part) {
    const std::string path = name->path_of(part);
    auto gguf = add_file(path, options);
    if (!gguf && gguf.error().code == ErrorCode::kNotFound) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("{}: part {} of {} is missing, wanted at {}", shown, part, keys.count, printable(path)));
    }
    if (!gguf) return fail(std::move(gguf.error()));
    auto own = split_keys(path, *gguf);
    if (!own) return fail(std::move(own.error()));
    if (own->part != part || own->count != keys.count || own->tensors != keys.tensors) {
      return wrong(fmt::format("{}: says it is part {} of {} with {} tensors in all, wanted part {} of {} with {}",
                               printable(path), own->part, own->count, own->tensors, part, keys.count, keys.tensors));
    }
    content_.tensors.insert(content_.tensors.end(), gguf->tensors.begin(), gguf->tensors.end());
  }
  if (content_.tensors.size() != static_cast<std::size_t>(keys.tensors)) {
    return wrong(fmt::format("{}: its {} parts hold {} tensors, key 'split.tensors.count' says {}", shown, keys.count,
                             content_.tensors.size(), keys.tensors));
  }
  content_.names = NameIndex(content_.tensors.size(), [&](std::size_t i) { return content_.tensors[i].name; });
  if (const auto twice = content_.names.duplicate(); !twice.empty()) {
    return wrong(fmt::format("{}: tensor '{}' is in two parts of the set", shown, twice));
  }
  return {};
}

bool is_directory(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

}  // namespace

Result<std::unique_ptr<ModelFile>> open_model_file(const std::string& path, const OpenOptions& options) {
  if (is_directory(path)) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("{}: is a directory; plait reads .gguf files, of a split set the first", printable(path)));
  }
  auto model = std::make_unique<GgufModel>(path, std::vector<std::byte>{});
  if (auto done = model->load_file(options); !done) return fail(std::move(done.error()));
  return std::unique_ptr<ModelFile>(std::move(model));
}

Result<std::unique_ptr<ModelFile>> open_model_bytes(std::string name, std::vector<std::byte> bytes) {
  auto model = std::make_unique<GgufModel>(std::move(name), std::move(bytes));
  if (auto done = model->load_bytes(); !done) return fail(std::move(done.error()));
  return std::unique_ptr<ModelFile>(std::move(model));
}

}  // namespace plait
