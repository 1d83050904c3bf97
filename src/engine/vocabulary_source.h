// The vocabulary of a model file: its tokenizer.* keys as plain data.
#pragma once

#include "io/model_file.h"
#include "text/tokenizer.h"

namespace plait {

// Every key is checked for its type, lists for their lengths and ids for their range; an error names the file and the
// key.
Result<Vocabulary> read_vocabulary(const ModelFile& file);

}  // namespace plait
