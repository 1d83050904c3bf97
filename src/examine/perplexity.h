// Perplexity of a text, in windows.
#pragma once

#include <functional>
#include <span>

#include "examine/session.h"

namespace plait {

struct PerplexityOptions {
  int window = 512;  // Tokens of a window, each computed from an empty past.
  int stride = 512;  // From one window's start to the next; of a window only what no earlier one scored is scored.
};

struct Perplexity {
  int tokens = 0;
  int scored = 0;
  double nll = 0;         // Mean nats per scored token.
  double perplexity = 0;  // exp(nll).
};

// Full windows only; the rest after the last is dropped. No BOS is added. Fails if the text has no full window.
Result<Perplexity> perplexity(Session& session, std::span<const Token> tokens, const PerplexityOptions& options,
                              const std::function<void(int done, int windows)>& progress = {});

}  // namespace plait
