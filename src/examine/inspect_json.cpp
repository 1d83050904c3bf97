// Inspection as one JSON object.
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cache/state_cost.h"
#include "examine/inspect.h"

namespace plait {
namespace {

using Json = nlohmann::ordered_json;

// Arrays may hold a vocabulary: only their length is told.
struct MetadataJson {
  Json operator()(bool value) const { return value; }
  Json operator()(std::int64_t value) const { return value; }
  Json operator()(double value) const { return value; }
  Json operator()(std::string_view value) const { return std::string(value); }
  template <class T>
  Json operator()(const std::vector<T>& values) const {
    return Json{{"count", values.size()}};
  }
};

Json layers_json(const ModelSpec& spec) {
  Json out = Json::array();
  for (const LayerInfo& layer : spec.layers) {
    out.push_back({{"mixer", layer.mixer},
                   {"ffn", layer.ffn},
                   {"token_bytes", row_bytes(layer.state)},
                   {"anchor_bytes", layer.state.anchor_bytes},
                   {"anchor_every", layer.state.anchor_bytes > 0 ? kChunkTokens : 0}});
  }
  return out;
}

Json formats_json(const Inspection& inspection) {
  Json out = Json::array();
  for (const FormatShare& share : inspection.formats) {
    out.push_back(
        {{"format", share.format}, {"tensors", share.tensors}, {"values", share.values}, {"bytes", share.bytes}});
  }
  return out;
}

Json tensors_json(const ModelFile& file) {
  Json out = Json::array();
  for (const RawTensor& tensor : file.tensors()) {
    const std::vector<std::int64_t> shape(tensor.extents.begin(), tensor.extents.begin() + tensor.dimensions);
    out.push_back({{"name", std::string(tensor.name)},
                   {"format", std::string(tensor.format->info.name)},
                   {"shape", shape},
                   {"bytes", tensor.bytes}});
  }
  return out;
}

// The keys are known to be different, so none is looked for before it is added: there may be many.
Json metadata_json(const ModelFile& file) {
  Json::object_t out;
  out.reserve(file.metadata().size());
  for (const MetadataEntry& entry : file.metadata()) {
    out.push_back({std::string(entry.key), std::visit(MetadataJson{}, entry.value)});
  }
  return out;
}

Json tokenizer_json(const TokenizerSummary& tokenizer) {
  return {{"model", tokenizer.model},   {"pre", tokenizer.pre}, {"tokens", tokenizer.tokens},
          {"merges", tokenizer.merges}, {"bos", tokenizer.bos}, {"eos", tokenizer.eos}};
}

Json memory_json(const MemorySummary& memory) {
  return {{"weight_bytes", memory.weight_bytes},
          {"token_bytes", memory.token_bytes},
          {"chunk_token_bytes", memory.chunk_token_bytes},
          {"anchor_bytes", memory.anchor_bytes},
          {"context", memory.context},
          {"context_bytes", memory.context_bytes},
          {"activations", memory.activations},
          {"scratch_bytes", memory.scratch_bytes}};
}

Json run_json(const RunReport& run) {
  Json kernels = Json::array();
  for (const KernelChoice& choice : run.kernels)
    kernels.push_back(
        {{"format", choice.format}, {"kernel", choice.kernel}, {"tensors", choice.tensors}, {"bytes", choice.bytes}});
  return {{"isa", run.isa}, {"threads", run.threads}, {"places", run.places}, {"kernels", kernels}};
}

}  // namespace

std::string inspection_json(const Inspection& inspection, const ModelFile& file, const InspectParts& parts) {
  Json out{{"path", inspection.path},
           {"architecture", inspection.architecture},
           {"name", inspection.name},
           {"runs", inspection.problem.empty()}};
  if (!inspection.problem.empty()) out["problem"] = inspection.problem;
  out["parameters"] = inspection.values;
  out["bytes"] = inspection.bytes;
  out["formats"] = formats_json(inspection);
  out["tokenizer"] = tokenizer_json(inspection.tokenizer);
  out["template_bytes"] = inspection.template_bytes;
  out["notes"] = inspection.notes;
  if (inspection.problem.empty()) {
    out["width"] = inspection.spec.dim;
    out["vocabulary"] = inspection.spec.vocabulary;
    out["trained_context"] = inspection.spec.trained_context;
    out["layers"] = layers_json(inspection.spec);
    out["memory"] = memory_json(inspection.memory);
    if (parts.plan && !inspection.run.isa.empty()) out["plan"] = run_json(inspection.run);
  }
  out["metadata"] = metadata_json(file);
  if (parts.tensors) out["tensors"] = tensors_json(file);
  // Bytes that are not UTF-8 become U+FFFD; everything beyond ASCII is escaped, so no terminal code comes through.
  return out.dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace plait
