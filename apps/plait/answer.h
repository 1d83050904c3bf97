// One answer of an engine, shown as it comes.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "interrupt.h"
#include "plait/engine.h"
#include "plait/result.h"

namespace plait {

struct Answer {
  std::string text;
  std::vector<Token> tokens;
  FinishReason finish = FinishReason::kStop;
  Usage usage;
  double first_token_s = 0;  // From `start`; 0 if there was none.
};

// Runs the request to its end, or until `interrupt` is raised. `show`, if set, gets each piece of text.
// A long prefill is shown as progress.
Result<Answer> answer(Engine& engine, Request request, std::chrono::steady_clock::time_point start,
                      const std::function<void(std::string_view)>& show, const InterruptFlag& interrupt);

// "prompt 12 tokens, 512 tokens/s; generated 64 tokens, 150 tokens/s; 14.1 GB/s of weights read".
std::string figures(const ModelInfo& info, const Usage& usage);

// Text of a model on standard output, without terminal codes where that is a terminal.
void show_text(std::string_view text);

}  // namespace plait
