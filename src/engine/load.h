// From a path to everything that one model needs to run: file, processor, weights, tokenizer, template.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "io/model_file.h"
#include "models/model.h"
#include "text/tokenizer.h"

namespace plait {

struct LoadOptions {
  std::string path;
  CpuOptions cpu;
  OpenOptions file;
  RowType key_type = RowType::kF16, value_type = RowType::kF16;
  bool check_values = true;
  bool repack_cache = false;
  bool tokenizer = true;  // false: leave it out; token ids are all that is needed.
  std::function<void(std::size_t done_bytes, std::size_t total_bytes)> progress;
};

struct Loaded {
  std::unique_ptr<ModelFile> file;
  std::unique_ptr<Backend> backend;
  std::unique_ptr<Model> model;          // On the heap: others point to it.
  std::unique_ptr<Tokenizer> tokenizer;  // Null if it was left out.
  std::string chat_template;             // The file's, or ChatML.
  std::vector<std::string> notes;        // Sentences for the user.
};

Result<Loaded> load_model(const LoadOptions& options);

}  // namespace plait
