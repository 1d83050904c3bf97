// Raw logits of a sequence of token ids, under any schedule one may ask for.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "examine/session.h"

namespace plait {

struct LogitsRequest {
  std::vector<Token> ids = {};
  std::vector<int> positions = {};  // Whose logits are wanted, in [0, ids.size()).
  int chunk = 0;                    // Tokens of the sequence in each step; 0: as many as the batch holds.
  int company = 0;                  // Other random sequences in every step.
  bool hidden = false;              // Also the residual stream.
  std::function<bool()> stop = {};  // Looked at before each step; true ends with an error, kCancelled.
};

struct LogitsStep {
  int tokens = 0;     // Of the asked sequence.
  int sequences = 0;  // In the step.
};

struct LogitsReport {
  std::vector<LogitsStep> steps;
  std::vector<float> hidden;  // [layers + 1, ids, dim], if asked for.
};

// The memory and the batch that such a request needs, put into `options`.
void size_for(const LogitsRequest& request, SessionOptions& options);

// Calls row(position, logits) for each wanted position, ascending.
Result<LogitsReport> compute_logits(
    Session& session, const LogitsRequest& request,
    const std::function<Result<void>(int position, std::span<const float> logits)>& row);

}  // namespace plait
