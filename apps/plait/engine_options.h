// From the common flags to the options of an engine.
#pragma once

#include <string>

#include "common_options.h"
#include "plait/engine.h"

namespace plait {

// With progress on a terminal. Fails where the name means no file.
Result<EngineOptions> engine_options(const CommonOptions& common, const std::string& model);

// What the engine has to say once it is open, on standard error: notes, and with --verbose how it runs here.
void print_engine(const CommonOptions& common, const ModelInfo& info, double load_s);

}  // namespace plait
