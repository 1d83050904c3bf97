// Rendering for the command line: variables from JSON, results to JSON.
#include "examine/render.h"

#include "base/json.h"
#include "text/chat_template.h"

namespace plait {
namespace {

using Json = nlohmann::ordered_json;

std::string token_text(const ModelFile& file, std::string_view id_key) {
  const MetadataValue* id = file.find_metadata(id_key);
  const MetadataValue* tokens = file.find_metadata("tokenizer.ggml.tokens");
  const auto* number = id ? std::get_if<std::int64_t>(id) : nullptr;
  const auto* texts = tokens ? std::get_if<std::vector<std::string_view>>(tokens) : nullptr;
  if (!number || !texts || *number < 0 || *number >= static_cast<std::int64_t>(texts->size())) return {};
  return std::string((*texts)[static_cast<std::size_t>(*number)]);
}

// Text from a file may hold bytes that are not UTF-8; in JSON they become U+FFFD.
std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string error_line(std::string_view message, int line) { return dumped({{"error", message}, {"line", line}}); }

struct LineRequest {
  Json variables;
  std::string source;
  RenderOptions options;
};

Result<LineRequest> read_line(const ModelTemplate& model, std::string_view line) {
  Result<Json> json = parse_json(line, "line");
  if (!json) return fail(std::move(json.error()));
  const auto wrong = [](const char* what) { return fail(ErrorCode::kInvalidArgument, std::string("line: ") + what); };
  if (!json->is_object()) return wrong("expected an object");
  LineRequest request;
  request.source = model.source;
  bool has_source = !model.source.empty();
  for (const auto& [key, value] : json->items()) {
    if (key == "variables") {
      if (!value.is_object()) return wrong("'variables' must be an object");
      request.variables = value;
    } else if (key == "template") {
      if (!value.is_string()) return wrong("'template' must be a string");
      request.source = value.get<std::string>();
      has_source = true;
    } else if (key == "now") {
      if (!value.is_string()) return wrong("'now' must be a string");
      request.options.now = value.get<std::string>();
    } else if (key == "continue_final_message") {
      if (!value.is_boolean()) return wrong("'continue_final_message' must be true or false");
      request.options.continue_final_message = value.get<bool>();
    }
  }
  if (request.variables.is_null()) return wrong("'variables' is missing");
  if (!has_source) return wrong("it brings no 'template', and none was given on the command line");
  return request;
}

}  // namespace

ModelTemplate model_template(const ModelFile& file) {
  ModelTemplate model;
  const MetadataValue* source = file.find_metadata("tokenizer.chat_template");
  if (const auto* text = source ? std::get_if<std::string_view>(source) : nullptr) {
    model.source = std::string(*text);
  } else {
    model.source = std::string(kChatMlTemplate);
    model.is_fallback = true;
  }
  model.bos_token = token_text(file, "tokenizer.ggml.bos_token_id");
  model.eos_token = token_text(file, "tokenizer.ggml.eos_token_id");
  return model;
}

Result<std::string> render_messages(const ModelTemplate& model, std::string_view messages_json) {
  Result<Json> json = parse_json(messages_json, "messages");
  if (!json) return fail(std::move(json.error()));
  Json variables = {{"tools", nullptr},
                    {"documents", nullptr},
                    {"add_generation_prompt", true},
                    {"bos_token", model.bos_token},
                    {"eos_token", model.eos_token}};
  if (json->is_array()) {
    variables["messages"] = std::move(*json);
  } else if (json->is_object() && json->contains("messages")) {
    variables.update(*json);
  } else {
    return fail(ErrorCode::kInvalidArgument, "messages: expected a list of messages, or an object with 'messages'");
  }
  return render_template(model.source, dumped(variables), {});
}

std::string render_line(const ModelTemplate& model, std::string_view line) {
  const Result<LineRequest> request = read_line(model, line);
  if (!request) return error_line(request.error().message, 0);
  TemplateError error;
  const Result<std::string> text =
      render_template(request->source, dumped(request->variables), request->options, &error);
  if (!text) return error_line(text.error().message, error.line);
  return dumped({{"text", *text}});
}

}  // namespace plait
