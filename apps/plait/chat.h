// A chat in the terminal.
#pragma once

#include <string>

#include "plait/engine.h"
#include "plait/result.h"

namespace plait {

// Reads messages from standard input until it ends or /bye. `request` holds the sampling options and limits of every
// answer. Ctrl-C ends an answer, not the chat.
Result<void> chat(Engine& engine, const std::string& system, const Request& request);

}  // namespace plait
