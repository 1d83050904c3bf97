// From a request to the text and the tokens of its prompt.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plait/engine.h"
#include "text/tokenizer.h"

namespace plait {

struct PromptTools {
  const Tokenizer* tokenizer = nullptr;  // Null: only token ids make a prompt.
  std::string_view chat_template;
  int context = 0;  // A text that certainly has more tokens is refused before it is cut; 0: none is.
};

// The text that the request's messages become.
Result<std::string> render_prompt(const Request& request, const PromptTools& tools);

// Exactly one kind of prompt must be given. A text gets what the vocabulary puts around one (BOS); a rendered text
// that begins with BOS by itself does not get a second one.
Result<Prompt> prepare_prompt(const Request& request, const PromptTools& tools);

}  // namespace plait
