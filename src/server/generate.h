// generate(): runs one request, or several at once, and hands their events to a dialect; sees to clients that leave, to
// signs of life, to reasoning, and to the counters.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "server/errors.h"
#include "server/service.h"

namespace plait {

// A piece of an answer.
struct Piece {
  int choice = 0;
  std::string text;       // Of the answer proper.
  std::string reasoning;  // Of what stands between <think> and </think>, if that is split off.
  // One token's own, if it is one: `event->kind` tells. Null for text that had been held back.
  const Event* event = nullptr;
};

struct GenerateOptions {
  bool split_reasoning = false;
  bool starts_in_reasoning = false;  // The prompt ends in an open <think>.
};

// All are called on the handler's thread. A function that is not set is not called.
struct GenerateSink {
  std::function<void(int done, int total)> prefill;  // Of the first choice's prompt.
  std::function<void(const Piece&)> piece;
  std::function<void(int choice, const Event& finish)> finish;  // Not after an error of any of them.
  std::function<void()> keep_alive;                             // Nothing was said for Service::keep_alive_ms.
};

// One stream for each request; returns when all have ended. When the client is gone all are cancelled, and still
// waited for. Errors: of the first request that is refused or fails; the others are cancelled then.
Result<void> generate(Service& service, Reply& reply, std::vector<Request> requests, const GenerateOptions& options,
                      const GenerateSink& sink);

// Whether a rendered prompt ends where the model is to begin with reasoning ("<think>" and white space last).
bool ends_in_reasoning(std::string_view prompt);

}  // namespace plait
