// Text to tokens and back, under llama-server's and vLLM's names; what a chat template makes of messages.
#include <fmt/format.h>

#include "base/utf8.h"
#include "server/chat_messages.h"
#include "server/events.h"
#include "server/llama_server.h"

namespace plait {
namespace {

constexpr Dialect kDialect = Dialect::kLlamaServer;
constexpr std::size_t kMostBytesSpelt = 128 << 10;  // Of a text whose tokens are spelt out.
constexpr std::size_t kMostTokens = 128 << 10;      // Of a list.

// "abc" if these are whole characters, else [97, ...].
Json piece_json(const std::string& bytes) {
  if (replace_invalid_utf8(bytes) == bytes) return bytes;
  Json numbers = Json::array();
  for (const char byte : bytes) numbers.push_back(static_cast<unsigned char>(byte));
  return numbers;
}

// A list of numbers as text: as JSON values a million would take sixteen times the room.
std::string ids_text(const std::vector<Token>& tokens) {
  fmt::memory_buffer out;
  for (const Token token : tokens) fmt::format_to(std::back_inserter(out), "{}{}", out.size() > 0 ? "," : "", token);
  return fmt::to_string(out);
}

void check_length(Fields& fields, std::string_view key, std::string_view text, bool spelt) {
  const std::size_t most = spelt ? kMostBytesSpelt : kMostTextBytes;
  if (text.size() > most) fields.fault(key, fmt::format("{} has {} bytes, wanted at most {}", key, text.size(), most));
}

// {"content"}: llama-server's question.
void tokenize_content(const Service& service, Fields& fields, Reply& reply) {
  const Json& content = *fields.any("content");
  const bool special = fields.boolean("add_special").value_or(false);
  const bool parse = fields.boolean("parse_special").value_or(true);
  const bool with_pieces = fields.boolean("with_pieces").value_or(false);
  if (content.is_string()) check_length(fields, "content", content.get_ref<const std::string&>(), with_pieces);
  if (fields.error()) return send_error(reply, kDialect, *fields.error());
  const auto tokens = mixed_tokens(fields, service.engine, "content", content,
                                   {.most_tokens = kMostTextBytes, .add_special = special, .parse_special = parse});
  if (!tokens) return send_error(reply, kDialect, *fields.error());
  if (!with_pieces) return reply.send(200, kJsonType, fmt::format("{{\"tokens\":[{}]}}", ids_text(*tokens)));
  std::string text;
  for (const Token token : *tokens)
    text += (text.empty() ? "" : ",") +
            json_text({{"id", token}, {"piece", piece_json(service.engine.token_bytes(token))}});
  reply.send(200, kJsonType, fmt::format("{{\"tokens\":[{}]}}", text));
}

// What the request's messages become.
Result<std::string> rendered(const Service& service, Fields& fields) {
  Request request;
  request.messages = chat_messages(fields);
  request.add_generation_prompt = fields.boolean("add_generation_prompt").value_or(true);
  request.continue_final_message = fields.boolean("continue_final_message").value_or(false);
  if (const Json* variables = template_kwargs(fields)) request.template_variables = json_text(*variables);
  fields.refuse({"chat_template", "tools", "documents", "response_format", "json_schema", "grammar"});
  if (fields.error()) return fail(ErrorCode::kInvalidArgument, fields.error()->message);
  Result<std::string> text = service.engine.render(request);
  if (!text) fields.fault("messages", text.error().message);
  return text;
}

// {"prompt"} or {"messages"}: vLLM's question.
void tokenize_prompt(const Service& service, Fields& fields, Reply& reply) {
  const bool is_chat = fields.any("messages") != nullptr;
  const bool special = fields.boolean("add_special_tokens").value_or(!is_chat);
  const bool spelt = fields.boolean("return_token_strs").value_or(false);
  const Json* prompt = fields.any("prompt");
  if (prompt != nullptr && !prompt->is_string()) fields.fault("prompt", "prompt is not a string");
  if (prompt != nullptr && prompt->is_string())
    check_length(fields, "prompt", prompt->get_ref<const std::string&>(), spelt);
  if (fields.error()) return send_error(reply, kDialect, *fields.error());
  const Result<std::string> text = is_chat ? rendered(service, fields) : prompt->get<std::string>();
  if (is_chat && !fields.error()) check_length(fields, "messages", *text, spelt);
  if (fields.error()) return send_error(reply, kDialect, *fields.error());
  const auto tokens = service.engine.tokenize(*text, special, true);
  if (!tokens) return send_error(reply, kDialect, http_error(tokens.error(), is_chat ? "messages" : "prompt"));
  std::string strings = "null";
  if (spelt) {
    Json list = Json::array();
    for (const Token token : *tokens) list.push_back(service.engine.token_bytes(token));
    strings = json_text(list);
  }
  reply.send(200, kJsonType,
             fmt::format("{{\"count\":{},\"max_model_len\":{},\"tokens\":[{}],\"token_strs\":{}}}", tokens->size(),
                         service.engine.info().context, ids_text(*tokens), strings));
}

void tokenize(const Service& service, const HttpRequest& request, Reply& reply) {
  Fields fields(request.body);
  int kinds = 0;
  for (const std::string_view key : {"content", "prompt", "messages"}) kinds += fields.any(key) != nullptr ? 1 : 0;
  if (kinds != 1)
    fields.fault("content", fmt::format("the request has {} of content, prompt and messages, wanted one", kinds));
  if (fields.error()) return send_error(reply, kDialect, *fields.error());
  if (fields.any("content") != nullptr) return tokenize_content(service, fields, reply);
  tokenize_prompt(service, fields, reply);
}

void detokenize(const Service& service, const HttpRequest& request, Reply& reply) {
  Fields fields(request.body);
  fields.require("tokens");
  std::optional<std::vector<Token>> tokens;
  if (const Json* list = fields.array("tokens"))
    tokens = mixed_tokens(fields, service.engine, "tokens", *list, {.most_tokens = kMostTokens});
  if (fields.error()) return send_error(reply, kDialect, *fields.error());
  const std::string text = service.engine.detokenize(*tokens, true);
  send_json(reply, {{"content", text}, {"prompt", text}});
}

void apply_template(const Service& service, const HttpRequest& request, Reply& reply) {
  Fields fields(request.body);
  const Result<std::string> text = rendered(service, fields);
  if (fields.error()) return send_error(reply, kDialect, *fields.error());
  send_json(reply, {{"prompt", *text}});
}

// Null where there is no such token: clients cut the text of others into tokens.
Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

void tokenizer_info(const Service& service, Reply& reply) {
  const ModelInfo& info = service.engine.info();
  send_json(reply, {{"tokenizer_class", "plait"},
                    {"bos_token", text_or_null(info.bos_text)},
                    {"eos_token", text_or_null(info.eos_text)},
                    {"pad_token", nullptr},
                    {"chat_template", info.chat_template},
                    {"vocab_size", info.vocabulary},
                    {"model_max_length", info.context}});
}

}  // namespace

std::optional<std::vector<Token>> mixed_tokens(Fields& fields, const Engine& engine, const std::string& name,
                                               const Json& value, const MixedOptions& options) {
  std::vector<Token> tokens;
  const auto add_text = [&](const std::string& at, const Json& text, bool special) {
    const std::string& bytes = text.get_ref<const std::string&>();
    if (bytes.size() > kMostTextBytes)
      return fields.fault(name, fmt::format("{} has {} bytes, wanted at most {}", at, bytes.size(), kMostTextBytes));
    const auto cut = engine.tokenize(bytes, special, options.parse_special);
    if (!cut) return fields.fault(name, fmt::format("{}: {}", at, cut.error().message));
    tokens.insert(tokens.end(), cut->begin(), cut->end());
  };
  if (value.is_string()) {
    add_text(name, value, options.add_special);
  } else if (!value.is_array()) {
    fields.fault(name, fmt::format("{} is neither a string nor a list of token ids and strings", name));
  }
  for (std::size_t i = 0; value.is_array() && i < value.size() && !fields.error(); ++i) {
    const Json& entry = value[i];
    const std::string at = fmt::format("{}[{}]", name, i);
    const double id = entry.is_number_integer() ? entry.get<double>() : -1;
    if (entry.is_string()) {
      add_text(at, entry, options.add_special && i == 0);
    } else if (id >= 0 && id < engine.info().vocabulary) {
      tokens.push_back(entry.get<Token>());
    } else {
      fields.fault(name, fmt::format("{} is {}, wanted a token's id from 0 to {}", at,
                                     entry.is_primitive() ? json_text(entry) : std::string("no number"),
                                     engine.info().vocabulary - 1));
    }
    if (tokens.size() > options.most_tokens)
      fields.fault(name, fmt::format("{} has more than {} tokens", name, options.most_tokens));
  }
  return fields.error() ? std::nullopt : std::optional(std::move(tokens));
}

void add_token_routes(Router& router, Service& service) {
  router.add("POST", "/tokenize", [&](const HttpRequest& request, Reply& reply) { tokenize(service, request, reply); });
  router.add("POST", "/detokenize",
             [&](const HttpRequest& request, Reply& reply) { detokenize(service, request, reply); });
  router.add("POST", "/apply-template",
             [&](const HttpRequest& request, Reply& reply) { apply_template(service, request, reply); });
  router.add("GET", "/tokenizer_info", [&](const HttpRequest&, Reply& reply) { tokenizer_info(service, reply); });
}

}  // namespace plait
