// POST /v1/responses: its fields.
#include <fmt/format.h>

#include <limits>

#include "base/json.h"
#include "server/chat_messages.h"
#include "server/responses.h"
#include "server/sampling_fields.h"

namespace plait {
namespace {

const Json* member(const Json& object, std::string_view key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

// An earlier answer's reasoning: its content, which templates know as a member of the message behind it.
std::string reasoning_of(Fields& fields, const std::string& name, const Json& item) {
  const Json* content = member(item, "content");
  if (content == nullptr || content->empty()) return {};
  return content_text(fields, name + ".content", *content, {"reasoning_text"}).value_or("");
}

std::optional<std::string> role_of(Fields& fields, const std::string& name, const Json& item) {
  const Json* role = member(item, "role");
  if (role != nullptr && (*role == "user" || *role == "assistant" || *role == "system"))
    return role->get<std::string>();
  if (role != nullptr && *role == "developer") return "system";
  fields.fault(name + ".role", fmt::format("{}.role is {}, wanted user, assistant, system or developer", name,
                                           role == nullptr ? "missing" : json_text(*role)));
  return std::nullopt;
}

void add_item(Fields& fields, const std::string& name, const Json& item, std::string& reasoning, Json& messages) {
  if (!item.is_object())
    return fields.fault(name, fmt::format("{} is not an object, wanted {{\"role\": ..., \"content\": ...}}", name));
  const Json* type = member(item, "type");
  if (type != nullptr && *type == "reasoning") {
    reasoning = reasoning_of(fields, name, item);
    return;
  }
  if (type != nullptr && *type != "message")
    return fields.fault(
        name + ".type",
        fmt::format("{}.type is {}, and only \"message\" and \"reasoning\" are supported", name, json_text(*type)));
  const auto role = role_of(fields, name, item);
  const Json* content = member(item, "content");
  if (content == nullptr) return fields.fault(name + ".content", fmt::format("{}.content is missing", name));
  auto text = content_text(fields, name + ".content", *content, {"input_text", "output_text", "text"});
  if (!text || !role) return;
  Json message = {{"role", *role}, {"content", std::move(*text)}};
  const std::string thoughts = std::exchange(reasoning, {});  // Of the message right behind them, if of any.
  if (*role == "assistant" && !thoughts.empty()) message["reasoning_content"] = thoughts;
  messages.push_back(std::move(message));
}

void read_previous(Fields& fields, ResponseStore& store, Json& messages) {
  const auto id = fields.string("previous_response_id");
  if (!id) return;
  const auto kept = store.find(*id);
  if (!kept)
    return fields.fault(
        "previous_response_id",
        fmt::format("previous_response_id is \"{}\", and there is no such response: it was not stored, was deleted, "
                    "or has made room for others",
                    *id),
        "previous_response_not_found");
  if (auto before = parse_json(kept->messages, "the response")) messages = std::move(*before);
}

// {"format": {"type": "text"}} is all there is.
void read_text(Fields& fields) {
  const Json* text = fields.object("text");
  if (text == nullptr) return;
  Fields inside(*text, "text.");
  refuse_formats(inside, "format");
  refuse_unless(inside, "verbosity", "medium");
  if (inside.error()) fields.fault(inside.error()->field, inside.error()->message);
}

void read_template(Fields& fields, const ModelInfo& model, ResponseAsk& ask) {
  Json variables = Json::object();
  if (const Json* reasoning = fields.object("reasoning")) {
    Fields inside(*reasoning, "reasoning.");
    read_effort(inside, "effort", model, variables);
    inside.refuse({"summary", "generate_summary"});
    if (inside.error()) fields.fault(inside.error()->field, inside.error()->message);
  }
  if (const Json* more = template_kwargs(fields)) variables.update(*more);
  if (!variables.empty()) ask.request.template_variables = json_text(variables);
}

void read_logprobs(Fields& fields, ResponseAsk& ask) {
  for (const std::string& name : fields.strings("include", 16)) {
    if (name == "message.output_text.logprobs") {
      ask.logprobs = true;
    } else {
      fields.fault("include",
                   fmt::format("include has \"{}\", and only message.output_text.logprobs is supported", name));
    }
  }
  const auto best = fields.integer("top_logprobs", 0, 20);
  if (best.value_or(0) > 0 && !ask.logprobs)
    fields.fault("top_logprobs", "top_logprobs is given, and include has no message.output_text.logprobs");
  if (ask.logprobs) ask.request.logprobs = static_cast<int>(best.value_or(0));
}

void refuse_unsupported(Fields& fields) {
  refuse_openai(fields);
  fields.refuse({"background", "conversation", "prompt", "context_management", "max_tool_calls", "moderation"});
  const Json* choice = fields.any("tool_choice");
  if (choice != nullptr && *choice != "auto" && *choice != "none")
    fields.fault("tool_choice", "the request has tool_choice, which is not supported");
  fields.boolean("parallel_tool_calls");  // There are none.
  refuse_unless(fields, "truncation", "disabled");
  if (const Json* options = fields.object("stream_options")) {
    Fields inside(*options, "stream_options.");
    inside.refuse({"include_obfuscation"});
    if (inside.error()) fields.fault(inside.error()->field, inside.error()->message);
  }
}

// Members of the response object that say what was asked for, as OpenAI's has them.
Json settings_of(const Fields& fields, const ResponseAsk& ask) {
  const auto given = [&](std::string_view key, const Json& otherwise = nullptr) {
    const Json* value = fields.any(key);
    return value == nullptr ? otherwise : *value;
  };
  Json settings = {{"instructions", given("instructions")},
                   {"max_output_tokens", given("max_output_tokens")},
                   {"max_tool_calls", nullptr},
                   {"metadata", given("metadata", Json::object())},
                   {"parallel_tool_calls", given("parallel_tool_calls", true)},
                   {"previous_response_id", given("previous_response_id")},
                   {"prompt_cache_key", given("prompt_cache_key")},
                   {"reasoning", {{"effort", nullptr}, {"summary", nullptr}}},
                   {"safety_identifier", given("safety_identifier")},
                   {"service_tier", "default"},
                   {"store", ask.store},
                   {"temperature", ask.request.sampling.temp},
                   {"text", {{"format", {{"type", "text"}}}, {"verbosity", "medium"}}},
                   {"tool_choice", given("tool_choice", "auto")},
                   {"tools", Json::array()},
                   {"top_logprobs", ask.request.logprobs.value_or(0)},
                   {"top_p", ask.request.sampling.top_p},
                   {"truncation", "disabled"},
                   {"user", given("user")}};
  const Json* reasoning = fields.any("reasoning");
  if (reasoning != nullptr && reasoning->contains("effort")) settings["reasoning"]["effort"] = (*reasoning)["effort"];
  return settings;
}

}  // namespace

void add_input(Fields& fields, Json& messages) {
  fields.require("input");
  const Json* input = fields.any("input");
  if (input == nullptr) return;
  if (input->is_string()) {
    messages.push_back({{"role", "user"}, {"content", *input}});
    return;
  }
  const Json* items = fields.array("input");
  if (items == nullptr) return;
  if (items->empty()) fields.fault("input", "input is empty, wanted at least one message");
  std::string reasoning;
  for (std::size_t i = 0; i < items->size() && !fields.error(); ++i)
    add_item(fields, fmt::format("input[{}]", i), (*items)[i], reasoning, messages);
}

ResponseAsk read_response(Fields& fields, const ModelInfo& model, ResponseStore& store) {
  ResponseAsk ask;
  read_previous(fields, store, ask.messages);
  add_input(fields, ask.messages);
  const auto instructions = fields.string("instructions");
  read_template(fields, model, ask);
  read_sampling(fields, model, ask.request);
  read_stop(fields, "stop", ask.request);
  const auto most = fields.integer("max_output_tokens", 1, std::numeric_limits<int>::max());
  if (most) ask.request.max_tokens = static_cast<int>(*most);
  read_logprobs(fields, ask);
  read_text(fields);
  refuse_unsupported(fields);
  ask.stream = fields.boolean("stream").value_or(false);
  ask.store = fields.boolean("store").value_or(true);
  fields.object("metadata");
  for (const std::string_view key : {"user", "safety_identifier", "prompt_cache_key"}) fields.string(key);
  if (fields.error()) return ask;
  Json all = Json::array();
  if (instructions && !instructions->empty()) all.push_back({{"role", "system"}, {"content", *instructions}});
  all.insert(all.end(), ask.messages.begin(), ask.messages.end());
  if (all.empty()) fields.fault("input", "input has no message, wanted at least one");
  ask.request.messages = json_text(all);
  ask.settings = settings_of(fields, ask);
  return ask;
}

}  // namespace plait
