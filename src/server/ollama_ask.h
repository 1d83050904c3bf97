// What a POST /api/chat or /api/generate asks for, read and checked.
#pragma once

#include <optional>

#include "plait/engine.h"
#include "server/fields.h"

namespace plait {

struct OllamaAsk {
  Request request;    // With a prompt and sampling.
  bool load = false;  // There is no prompt: the model is only to be there.
  bool raw = false;   // The prompt is taken as it is.
  bool stream = true;
  std::optional<int> num_ctx;  // Most tokens of prompt and answer together.
  std::string model;           // As the client calls it.
};

OllamaAsk read_ollama_chat(Fields& fields, const ModelInfo& model);
OllamaAsk read_ollama_generate(Fields& fields, const ModelInfo& model);

// The object "options" of any request: sampling, stops, lengths; what is fixed here is refused by name.
void read_ollama_options(Fields& fields, const ModelInfo& model, OllamaAsk& ask);

}  // namespace plait
