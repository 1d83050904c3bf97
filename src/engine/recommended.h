// The sampling that a model's file recommends.
#pragma once

#include <string>
#include <vector>

#include "io/model_file.h"
#include "plait/engine.h"

namespace plait {

// llama.cpp's defaults, with what general.sampling.* says instead. A value of the wrong type or out of range is left
// out, and `notes` says so.
SampleOptions recommended_sampling(const ModelFile& file, std::vector<std::string>& notes);

}  // namespace plait
