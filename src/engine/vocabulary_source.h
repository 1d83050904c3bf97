// From a model file's tokenizer keys to a Vocabulary.
#pragma once

#include "io/model_file.h"
#include "text/tokenizer.h"

namespace plait {

// Fails naming the file and the key, where a key is missing, has the wrong type, or contradicts another.
Result<Vocabulary> read_vocabulary(const ModelFile& file);

}  // namespace plait
