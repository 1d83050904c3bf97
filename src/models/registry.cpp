// The list of architectures.
#include "models/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"

namespace plait {

Result<Model> llama(Builder& b);
Result<Model> qwen2(Builder& b);
Result<Model> qwen3(Builder& b);
Result<Model> qwen3moe(Builder& b);
Result<Model> qwen3next(Builder& b);
Result<Model> qwen35(Builder& b);
Result<Model> qwen35moe(Builder& b);
Result<Model> lfm2(Builder& b);
Result<Model> lfm2moe(Builder& b);
std::span<const Shape> llama_shapes();
std::span<const Shape> qwen2_shapes();
std::span<const Shape> qwen3_shapes();
std::span<const Shape> qwen3moe_shapes();
std::span<const Shape> qwen3next_shapes();
std::span<const Shape> qwen35_shapes();
std::span<const Shape> qwen35moe_shapes();
std::span<const Shape> lfm2_shapes();
std::span<const Shape> lfm2moe_shapes();

std::span<const Architecture> architectures() {
  static const Architecture kArchitectures[] = {
      // clang-format off
      {"llama", llama, llama_shapes()},
      {"qwen2", qwen2, qwen2_shapes()},
      {"qwen3", qwen3, qwen3_shapes()},
      {"qwen3moe", qwen3moe, qwen3moe_shapes()},
      {"qwen3next", qwen3next, qwen3next_shapes()},
      {"qwen35", qwen35, qwen35_shapes()},
      {"qwen35moe", qwen35moe, qwen35moe_shapes()},
      {"lfm2", lfm2, lfm2_shapes()},
      {"lfm2moe", lfm2moe, lfm2moe_shapes()},
      // clang-format on
  };
  return kArchitectures;
}

const Architecture* find_architecture(std::string_view name) {
  for (const Architecture& architecture : architectures()) {
    if (architecture.name == name) return &architecture;
  }
  return nullptr;
}

Result<const Architecture*> architecture_of(const ModelFile& file) {
  const MetadataValue* value = file.find_metadata("general.architecture");
  const auto* name = value != nullptr ? std::get_if<std::string_view>(value) : nullptr;
  if (name == nullptr)
    return fail(ErrorCode::kCorrupt, fmt::format("{}: key general.architecture is missing or not text", file.path()));
  if (const Architecture* found = find_architecture(*name)) return found;
  std::vector<std::string_view> known;
  for (const Architecture& architecture : architectures()) known.push_back(architecture.name);
  return fail(ErrorCode::kUnsupported, fmt::format("{}: the architecture is '{}'; known are {}", file.path(),
                                                   printable(*name), fmt::join(known, ", ")));
}

Result<Model> build_model(const ModelFile& file, const BuildOptions& options, std::vector<std::string>* notes) {
  const Result<const Architecture*> architecture = architecture_of(file);
  if (!architecture) return fail(architecture.error());
  Builder builder(file, std::string((*architecture)->name), options);
  Result<Model> model = (*architecture)->build(builder);
  if (model && notes != nullptr) notes->insert(notes->end(), builder.notes().begin(), builder.notes().end());
  return model;
}

}  // namespace plait
