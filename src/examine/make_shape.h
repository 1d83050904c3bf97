// Shapes of models to be made: JSON objects with the keys of the architecture's metadata, without its prefix.
#pragma once

#include <string>
#include <vector>

#include "io/gguf_writer.h"
#include "models/registry.h"
#include "plait/result.h"

namespace plait {

struct MakeShape {
  std::vector<GgufEntry> metadata;  // Keys with the architecture's prefix, in the order of the text.
  int vocabulary = 0;               // vocab_size, which must be there.
  bool tied = false;                // "tied": the head is the embedding table.
};

// `shape` names an entry of the architecture's table, or else a file.
Result<MakeShape> read_shape(const Architecture& architecture, const std::string& shape);

}  // namespace plait
