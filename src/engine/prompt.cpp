// From a request to the text and the tokens of its prompt.
#include "engine/prompt.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "text/chat_template.h"

namespace plait {
namespace {

using Json = nlohmann::ordered_json;

std::string special_text(const Tokenizer& tokenizer, Token token) {
  return token < 0 ? std::string() : tokenizer.piece(token, true);
}

Result<Json> template_variables(const Request& request, const Tokenizer& tokenizer) {
  if (!request.messages) return fail(ErrorCode::kInvalidArgument, "the request has no messages to render");
  Result<Json> messages = parse_json(*request.messages, "messages");
  if (!messages) return messages;
  if (!messages->is_array())
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("messages is a JSON {}, wanted an array", messages->type_name()));
  Json variables = Json::object();
  const Vocabulary& vocabulary = tokenizer.vocabulary();
  if (vocabulary.bos >= 0) variables["bos_token"] = special_text(tokenizer, vocabulary.bos);
  if (vocabulary.eos >= 0) variables["eos_token"] = special_text(tokenizer, vocabulary.eos);
  variables["messages"] = std::move(*messages);
  variables["add_generation_prompt"] = request.add_generation_prompt && !request.continue_final_message;
  if (request.template_variables.empty()) return variables;
  Result<Json> more = parse_json(request.template_variables, "template_variables");
  if (!more) return more;
  if (!more->is_object())
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("template_variables is a JSON {}, wanted an object", more->type_name()));
  for (const auto& [key, value] : more->items()) variables[key] = value;
  return variables;
}

// Cutting megabytes takes seconds, only to be told that they do not fit. In a byte-level vocabulary each token stands
// for as many bytes as its spelling has at most; normalizing to NFC leaves at least a third of them.
Result<std::vector<Token>> encode(std::string_view text, const PromptTools& tools) {
  const Vocabulary& vocabulary = tools.tokenizer->vocabulary();
  std::size_t longest = 1;
  for (const std::string& token : vocabulary.tokens) longest = std::max(longest, token.size());
  const std::size_t least = text.size() / longest / 3;
  if (tools.context > 0 && vocabulary.model == "gpt2" && least > static_cast<std::size_t>(tools.context)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("the prompt has {} bytes, which are at least {} tokens, and the context has room for {}",
                            text.size(), least, tools.context));
  }
  return tools.tokenizer->encode(text, {});
}

}  // namespace

Result<std::string> render_prompt(const Request& request, const PromptTools& tools) {
  if (tools.tokenizer == nullptr)
    return fail(ErrorCode::kUnsupported, "messages need the tokenizer, and the engine was opened without");
  const Result<Json> variables = template_variables(request, *tools.tokenizer);
  if (!variables) return fail(variables.error());
  RenderOptions options;
  options.continue_final_message = request.continue_final_message;
  const std::string text = variables->dump(-1, ' ', false, Json::error_handler_t::replace);
  return render_template(tools.chat_template, text, options);
}

Result<Prompt> prepare_prompt(const Request& request, const PromptTools& tools) {
  const int kinds = (request.text ? 1 : 0) + (request.messages ? 1 : 0) + (request.tokens.empty() ? 0 : 1);
  if (kinds != 1)
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("the request has {} kinds of prompt, wanted one of text, messages and tokens", kinds));
  if (!request.tokens.empty()) return Prompt{{}, request.tokens};
  if (tools.tokenizer == nullptr)
    return fail(ErrorCode::kUnsupported, "a prompt of text needs the tokenizer, and the engine was opened without");
  Result<std::string> text = request.text ? *request.text : render_prompt(request, tools);
  if (!text) return fail(text.error());
  std::string_view rest = *text;
  const std::string bos = special_text(*tools.tokenizer, tools.tokenizer->vocabulary().bos);
  const bool repeats_bos = request.messages && tools.tokenizer->adds_bos() && !bos.empty() && rest.starts_with(bos);
  if (repeats_bos) rest.remove_prefix(bos.size());
  Result<std::vector<Token>> tokens = encode(rest, tools);
  if (!tokens) return fail(tokens.error());
  return Prompt{std::move(*text), std::move(*tokens)};
}

}  // namespace plait
