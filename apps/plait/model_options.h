// From the common flags to what the library's loaders take.
#pragma once

#include "common_options.h"
#include "examine/session.h"

namespace plait {

// The options to load MODEL with, with progress on a terminal. Fails where the name means no file.
Result<LoadOptions> load_options(const CommonOptions& common, const std::string& model);

// The same for a session: context, batch and budget included.
Result<SessionOptions> session_options(const CommonOptions& common, const std::string& model);

// With --verbose, how the session runs here, on standard error.
void print_plan(const CommonOptions& common, const Session& session);
// Weights read to compute `tokens_per_s` tokens one by one, and the share of the memory's bandwidth, measured now on
// the threads that the flags ask for; it takes a quarter of a GiB and of a second.
std::string bandwidth_text(const CommonOptions& common, std::size_t step_weight_bytes, double tokens_per_s);

// Notes on standard error, one a line.
void print_notes(const std::vector<std::string>& notes);

}  // namespace plait
