// How long a context may be, and the memory it gets: decided with numbers before anything is taken.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "models/model.h"
#include "plait/result.h"

namespace plait {

struct MemoryRequest {
  std::optional<int> context;              // None: min(trained, 4096). 0: as trained.
  std::optional<std::size_t> cache_bytes;  // None: what the context needs, at most half of what is free.
  int sequences = 1;                       // That are to have a whole context each.
  int welcome_sequences = 1;      // Without cache_bytes: room for so many, as far as half of what is free goes.
  std::size_t scratch_bytes = 0;  // Taken beside, for the steps themselves.
};

struct MemoryPlan {
  int context = 0;              // Most tokens of one sequence.
  std::size_t cache_bytes = 0;  // Budget for rows and anchors.
};

// Fails when the scratch memory alone does not fit, or an asked context beside it: says what it needs, what there is,
// and how many tokens would fit. A default context is shortened instead, down to 16 tokens, and `notes` says so.
Result<MemoryPlan> plan_memory(const ModelSpec& spec, const MemoryRequest& request, std::size_t free_bytes,
                               std::vector<std::string>* notes = nullptr);

}  // namespace plait
