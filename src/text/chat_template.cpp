// Chat templates: reads the source and the variables, runs the template, and cuts the text where it is to go on.
#include "text/chat_template.h"

#include <fmt/format.h>

#include "base/json.h"
#include "text/jinja/clock.h"
#include "text/jinja/json_value.h"
#include "text/jinja/machine.h"
#include "text/jinja/parser.h"
#include "text/jinja/unicode.h"

namespace plait {

const std::string_view kChatMlTemplate =
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + "
    "'\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

namespace {

using Json = nlohmann::ordered_json;

// Put behind the last message, found again in the text. Trimming templates lose its last space.
constexpr std::string_view kContinueMark = "CONTINUE_FINAL_MESSAGE_TAG ";

std::string* final_content(Json& variables) {
  const auto messages = variables.find("messages");
  if (messages == variables.end() || !messages->is_array() || messages->empty()) return nullptr;
  Json& last = messages->back();
  if (!last.is_object()) return nullptr;
  const auto content = last.find("content");
  if (content == last.end()) return nullptr;
  if (content->is_string()) return content->get_ptr<std::string*>();
  // Content in parts: the last part that has text.
  if (!content->is_array()) return nullptr;
  for (auto part = content->rbegin(); part != content->rend(); ++part) {
    if (!part->is_object()) continue;
    const auto text = part->find("text");
    if (text != part->end() && text->is_string()) return text->get_ptr<std::string*>();
  }
  return nullptr;
}

Result<std::string> cut_at_mark(std::string text, const std::string& content) {
  const std::string_view mark = kContinueMark.substr(0, kContinueMark.size() - 1);
  const std::size_t at = text.rfind(mark);
  const std::string_view stripped = jinja::strip_left(jinja::strip_right(content));
  if (at == std::string::npos || text.find(stripped) == std::string::npos) {
    return fail(ErrorCode::kInvalidArgument,
                "the template does not print the content of the last message, so that message cannot be continued");
  }
  const bool trimmed = text.compare(at, kContinueMark.size(), kContinueMark) != 0;
  text.resize(at);
  if (trimmed) text.resize(jinja::strip_right(text).size());
  return text;
}

Unexpected template_failure(const jinja::Failure& failure, TemplateError* error) {
  if (error) *error = {failure.message, failure.line};
  return fail(ErrorCode::kInvalidArgument, failure.line > 0
                                               ? fmt::format("template line {}: {}", failure.line, failure.message)
                                               : fmt::format("template: {}", failure.message));
}

Result<std::string> render(std::string_view source, const Json& variables, std::size_t variables_bytes,
                           const RenderOptions& options, TemplateError* error) {
  jinja::Failure failure;
  TemplateLimits limits = options.limits;
  limits.output_bytes += 2 * variables_bytes;
  if (source.size() > limits.source_bytes) {
    return template_failure(
        {fmt::format("the source has {} bytes, wanted at most {}", source.size(), limits.source_bytes), 0}, error);
  }
  if (!jinja::is_valid_utf8(source)) return template_failure({"the source is not UTF-8", 0}, error);
  const std::string normalized = jinja::normalize_source(source);
  std::vector<jinja::Token> tokens;
  if (!jinja::tokenize(normalized, tokens, failure)) return template_failure(failure, error);
  jinja::Heap heap(3 * limits.output_bytes);
  jinja::Names names;
  jinja::Body body;
  if (!jinja::parse(tokens, {.heap = heap, .names = names, .depth = limits.depth}, body, failure)) {
    return template_failure(failure, error);
  }
  jinja::Machine machine(heap, names, limits, options.now);
  for (const auto& [name, value] : variables.items())
    machine.set_variable(name, jinja::value_from_json(machine, value));
  std::string text;
  if (machine.failed() || !machine.run(body, text)) return template_failure(machine.failure(), error);
  return text;
}

}  // namespace

Result<std::string> render_template(std::string_view source, std::string_view variables_json,
                                    const RenderOptions& options, TemplateError* error) {
  Result<Json> variables = parse_json(variables_json, "template variables");
  if (!variables) return fail(std::move(variables.error()));
  if (!variables->is_object()) return fail(ErrorCode::kInvalidArgument, "template variables: expected a JSON object");
  if (!options.now.empty() && !jinja::is_valid_time(options.now)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("the time '{}' is not of the form YYYY-MM-DDTHH:MM:SS", options.now));
  }
  if (!options.continue_final_message) return render(source, *variables, variables_json.size(), options, error);
  std::string* content = final_content(*variables);
  if (!content) {
    return fail(ErrorCode::kInvalidArgument, "the last message has no text content, so it cannot be continued");
  }
  const std::string original = *content;
  *content += kContinueMark;
  Result<std::string> text = render(source, *variables, variables_json.size(), options, error);
  return text ? cut_at_mark(std::move(*text), original) : std::move(text);
}

}  // namespace plait
