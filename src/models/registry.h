// The list of architectures, and the way from a file to a Model.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "models/builder.h"

namespace plait {

using ArchitectureFunction = Result<Model> (*)(Builder& builder);

// Ready-made shapes for `plait make`: metadata without the architecture's prefix, as JSON text.
struct Shape {
  std::string_view name;
  std::string_view json;
};

struct Architecture {
  std::string_view name;  // general.architecture
  ArchitectureFunction build;
  std::span<const Shape> shapes;
};

std::span<const Architecture> architectures();
const Architecture* find_architecture(std::string_view name);  // Null: not known.

// The architecture that a file names, or an error with the list of known ones.
Result<const Architecture*> architecture_of(const ModelFile& file);

// Runs the file's architecture. `notes` receives sentences for the user.
Result<Model> build_model(const ModelFile& file, const BuildOptions& options,
                          std::vector<std::string>* notes = nullptr);

}  // namespace plait
