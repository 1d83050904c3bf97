// Session: a loaded model, its cache and its scratch memory, for commands that step by hand.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/load.h"
#include "engine/memory_plan.h"
#include "engine/stepper.h"

namespace plait {

struct SessionOptions {
  LoadOptions load;
  MemoryRequest memory;
  int batch = 512;  // Most tokens of one step.
};

struct Session {
  Loaded loaded;
  Stepper stepper;
  MemoryPlan memory;
  KeptThread kept;  // Who opens a session steps, and is the first worker.

  const ModelSpec& spec() const { return loaded.model->spec(); }
};

Result<Session> open_session(const SessionOptions& options);

// How the session runs here, as ModelInfo::plan.
std::vector<std::string> plan_lines(const Session& session);

// Fails naming the first id that is not in [0, vocabulary), and its place.
Result<void> check_ids(std::span<const Token> ids, int vocabulary);

}  // namespace plait
