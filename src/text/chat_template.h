// Chat templates: messages to prompt, by the Jinja template that a model brings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "plait/result.h"

namespace plait {

struct TemplateLimits {
  std::int64_t steps = 10'000'000;      // Statements and expressions evaluated.
  int depth = 200;                      // Nesting of expressions, macros and blocks.
  std::size_t source_bytes = 1u << 20;  // Of the template. The largest that makers publish have some 30 KiB.
  // Of the rendered text, and of any one string on the way; besides, twice the bytes of the variables.
  std::size_t output_bytes = 8u << 20;
};

struct RenderOptions {
  std::string now = {};                 // "YYYY-MM-DDTHH:MM:SS" for strftime_now; empty: the local clock.
  bool continue_final_message = false;  // Cut the text where the last message's content ends.
  TemplateLimits limits = {};
};

struct TemplateError {
  std::string message;
  int line = 0;  // Of the template, from 1; 0 if none can be named.
};

// Renders `source` with `variables`, the JSON text of an object: exactly what it names is set.
// An error's message names the template's line and the cause; `error`, if given, receives both apart.
Result<std::string> render_template(std::string_view source, std::string_view variables_json,
                                    const RenderOptions& options, TemplateError* error = nullptr);

// For models without a template: <|im_start|>role\ncontent<|im_end|>\n ...
extern const std::string_view kChatMlTemplate;

}  // namespace plait
