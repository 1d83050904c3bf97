// Inspection: collected from the header and from the architecture's function over a listing.
#include "examine/inspect.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "cache/state_cost.h"
#include "engine/stepper.h"
#include "models/registry.h"

namespace plait {
namespace {

constexpr int kDefaultContext = 4096;

std::string text_key(const ModelFile& file, std::string_view key) {
  const MetadataValue* const value = file.find_metadata(key);
  const auto* const text = value != nullptr ? std::get_if<std::string_view>(value) : nullptr;
  return text != nullptr ? printable(*text) : std::string();
}

std::int64_t integer_key(const ModelFile& file, std::string_view key, std::int64_t fallback) {
  const MetadataValue* const value = file.find_metadata(key);
  const auto* const number = value != nullptr ? std::get_if<std::int64_t>(value) : nullptr;
  return number != nullptr ? *number : fallback;
}

std::size_t text_count(const ModelFile& file, std::string_view key) {
  const MetadataValue* const value = file.find_metadata(key);
  const auto* const list = value != nullptr ? std::get_if<std::vector<std::string_view>>(value) : nullptr;
  return list != nullptr ? list->size() : 0;
}

std::vector<FormatShare> shares(const ModelFile& file) {
  std::map<std::string_view, FormatShare> by_format;
  for (const RawTensor& tensor : file.tensors()) {
    FormatShare& share = by_format[tensor.format->info.name];
    share.format = tensor.format->info.name;
    ++share.tensors;
    share.values += tensor.values();
    share.bytes += tensor.bytes;
  }
  std::vector<FormatShare> out;
  for (auto& [name, share] : by_format) out.push_back(std::move(share));
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return out;
}

MemorySummary memory_of(const Model& model, const InspectOptions& options) {
  const ModelSpec& spec = model.spec();
  const StateCost cost = state_cost(spec.states());
  MemorySummary out;
  const int asked = options.context.value_or(std::min(spec.trained_context, kDefaultContext));
  out.context = asked == 0 ? spec.trained_context : asked;
  out.weight_bytes = spec.weight_bytes;
  out.token_bytes = cost.token_bytes;
  out.chunk_token_bytes = cost.chunk_token_bytes;
  out.anchor_bytes = cost.anchor_bytes;
  out.context_bytes = cost.context(out.context);
  if (options.backend != nullptr) {
    out.activations = options.backend->activations();
    out.scratch_bytes = Stepper::scratch_bytes(model, *options.backend, options.batch);
  }
  return out;
}

}  // namespace

Inspection inspect(const ModelFile& file, const InspectOptions& options) {
  Inspection out;
  out.path = printable(file.path());
  out.architecture = text_key(file, "general.architecture");
  out.name = text_key(file, "general.name");
  for (const RawTensor& tensor : file.tensors()) {
    out.values += tensor.values();
    out.bytes += tensor.bytes;
  }
  out.formats = shares(file);
  out.tokenizer = {.model = text_key(file, "tokenizer.ggml.model"),
                   .pre = text_key(file, "tokenizer.ggml.pre"),
                   .tokens = text_count(file, "tokenizer.ggml.tokens"),
                   .merges = text_count(file, "tokenizer.ggml.merges"),
                   .bos = integer_key(file, "tokenizer.ggml.bos_token_id", -1),
                   .eos = integer_key(file, "tokenizer.ggml.eos_token_id", -1)};
  out.template_bytes = text_key(file, "tokenizer.chat_template").size();
  BuildOptions build;
  build.mode = BuildMode::kList;
  build.backend = options.backend;
  build.key_type = options.key_type;
  build.value_type = options.value_type;
  const auto model = build_model(file, build, &out.notes);
  if (!model) {
    out.problem = printable(model.error().message);
    if (out.problem.starts_with(out.path + ": ")) out.problem.erase(0, out.path.size() + 2);
    return out;
  }
  out.spec = model->spec();
  out.memory = memory_of(*model, options);
  if (options.backend != nullptr) out.run = run_report(file, *options.backend);
  return out;
}

}  // namespace plait
