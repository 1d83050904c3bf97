// What `plait render` does: a model's chat template over messages, once or line by line.
#pragma once

#include <string>
#include <string_view>

#include "io/model_file.h"
#include "plait/result.h"

namespace plait {

struct ModelTemplate {
  std::string source = {};                     // Empty: none, so every line must bring its own.
  std::string bos_token = {}, eos_token = {};  // Their texts; empty: the model has none.
  bool is_fallback = false;                    // The model brings no template, and `source` is ChatML.
};

// The template and the token texts that its file names. Reads metadata only.
ModelTemplate model_template(const ModelFile& file);

// `messages_json` is a list of messages, or an object of variables with `messages` among them. What it does not set:
// add_generation_prompt is true, tools and documents are null, bos_token and eos_token are the model's.
Result<std::string> render_messages(const ModelTemplate& model, std::string_view messages_json);

// One line {"variables", "template", "now", "continue_final_message"} to one line {"text"} or {"error", "line"}.
// Only what `variables` names is set.
std::string render_line(const ModelTemplate& model, std::string_view line);

}  // namespace plait
