// check_request(): whether a request makes sense and can ever fit.
#pragma once

#include <span>

#include "plait/engine.h"
#include "plait/result.h"

namespace plait {

struct RequestLimits {
  int vocabulary = 0;
  int context = 0;
  int most_tokens = 0;  // Whose rows fit into all the memory.
};

// Fails with the field, its value and what was wanted. `prompt` is what the request's prompt became.
Result<void> check_request(const Request& request, std::span<const Token> prompt, const RequestLimits& limits);

}  // namespace plait
