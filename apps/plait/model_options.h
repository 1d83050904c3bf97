// From the common flags to what the library's loaders take.
#pragma once

#include "common_options.h"
#include "examine/session.h"

namespace plait {

// The options to load MODEL with, with progress on a terminal. Fails where the name means no file.
Result<LoadOptions> load_options(const CommonOptions& common, const std::string& model);

// The same for a session: context, batch and budget included.
Result<SessionOptions> session_options(const CommonOptions& common, const std::string& model);

// Notes on standard error, one a line.
void print_notes(const std::vector<std::string>& notes);

}  // namespace plait
