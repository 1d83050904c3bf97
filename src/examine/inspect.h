// Inspection: what a model file's header says, and what running it would take. No weights are read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/run_report.h"
#include "io/model_file.h"
#include "models/model.h"
#include "plait/result.h"

namespace plait {

struct InspectOptions {
  Backend* backend = nullptr;  // Whose sizes count; null: those of the file.
  RowType key_type = RowType::kF16, value_type = RowType::kF16;
  std::optional<int> context;  // None: min(trained, 4096). 0: as trained.
  int batch = 512;             // Tokens of one step, for the scratch memory.
};

struct FormatShare {
  std::string format;
  int tensors = 0;
  std::int64_t values = 0;
  std::size_t bytes = 0;
};

// Tokens, with what the file says about them; nothing is checked here.
struct TokenizerSummary {
  std::string model, pre;  // Empty: the file does not say.
  std::size_t tokens = 0, merges = 0;
  std::int64_t bos = -1, eos = -1;
};

struct MemorySummary {
  std::size_t weight_bytes = 0;       // As held for computing.
  std::size_t token_bytes = 0;        // For each token of context, all layers.
  std::size_t chunk_token_bytes = 0;  // For each token of the chunk under way, in recurrent layers.
  std::size_t anchor_bytes = 0;       // For each sequence at least: one anchor of every layer that has them.
  int context = 0;
  std::size_t context_bytes = 0;  // Of that context.
  int activations = 0;            // Bits.
  std::size_t scratch_bytes = 0;  // Of a step, with such activations. Zero where no backend was named.
};

struct Inspection {
  std::string path, architecture, name;
  std::string problem;  // Why plait cannot run it; empty: it can.
  std::int64_t values = 0;
  std::size_t bytes = 0;             // Of all tensors in the file.
  std::vector<FormatShare> formats;  // Most bytes first.
  TokenizerSummary tokenizer;
  std::size_t template_bytes = 0;  // Zero: the file has none.
  std::vector<std::string> notes;

  // Only where `problem` is empty.
  ModelSpec spec;
  MemorySummary memory;
  RunReport run;  // Where there is a backend.
};

// Cannot fail: what is wrong with the model becomes `problem`.
Inspection inspect(const ModelFile& file, const InspectOptions& options);

struct InspectParts {
  bool tensors = false;  // Every tensor.
  bool plan = false;     // How it is computed here; memory item by item, and of each layer.
};

// For people: lines of text. Nothing from the file can hold terminal codes there.
std::string inspection_text(const Inspection& inspection, const ModelFile& file, const InspectParts& parts);

// For programs: one JSON object.
std::string inspection_json(const Inspection& inspection, const ModelFile& file, const InspectParts& parts);

}  // namespace plait
