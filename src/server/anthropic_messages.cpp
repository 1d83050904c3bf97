// POST /v1/messages: its fields.
#include "server/anthropic_messages.h"

#include <fmt/format.h>

#include <limits>

#include "server/chat_messages.h"
#include "server/events.h"
#include "server/sampling_fields.h"

namespace plait {
namespace {

const Json* member(const Json& object, std::string_view key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

// Takes the blocks of earlier reasoning out of `content`; templates know them as a member of their own.
std::string take_thinking(Fields& fields, const std::string& name, Json& content) {
  std::string thinking;
  if (!content.is_array()) return thinking;
  Json rest = Json::array();
  for (std::size_t i = 0; i < content.size(); ++i) {
    const Json* type = content[i].is_object() ? member(content[i], "type") : nullptr;
    if (type == nullptr || *type != "thinking") {
      rest.push_back(std::move(content[i]));
      continue;
    }
    const Json* text = member(content[i], "thinking");
    if (text == nullptr || !text->is_string()) {
      fields.fault(fmt::format("{}[{}].thinking", name, i),
                   fmt::format("{}[{}].thinking is missing or not a string", name, i));
    } else {
      thinking += text->get_ref<const std::string&>();
    }
  }
  content = std::move(rest);
  return thinking;
}

// As a template sees it; null: there was a fault.
Json read_message(Fields& fields, const std::string& name, const Json& message) {
  const Json* role = message.is_object() ? member(message, "role") : nullptr;
  if (role == nullptr || (*role != "user" && *role != "assistant" && *role != "system")) {
    fields.fault(name + ".role", fmt::format("{}.role is {}, wanted \"user\", \"assistant\" or \"system\"", name,
                                             role == nullptr ? "missing" : json_text(*role)));
    return nullptr;
  }
  const Json* given = member(message, "content");
  if (given == nullptr) {
    fields.fault(name + ".content", fmt::format("{}.content is missing", name));
    return nullptr;
  }
  Json content = *given;
  const std::string thinking = *role == "assistant" ? take_thinking(fields, name + ".content", content) : std::string();
  auto text = content_text(fields, name + ".content", content, {"text"});
  if (!text || fields.error()) return nullptr;
  Json made = {{"role", *role}, {"content", std::move(*text)}};
  if (!thinking.empty()) made["reasoning_content"] = thinking;
  return made;
}

// Turns of one role that follow each other are one turn.
void add_turn(Json& turns, Json turn) {
  if (turns.empty() || turns.back()["role"] != turn["role"]) {
    turns.push_back(std::move(turn));
    return;
  }
  Json& last = turns.back();
  for (const char* key : {"content", "reasoning_content"}) {
    const Json* more = member(turn, key);
    if (more == nullptr) continue;
    const Json* before = member(last, key);
    last[key] = (before == nullptr ? "" : before->get<std::string>() + "\n") + more->get<std::string>();
  }
}

void read_turns(Fields& fields, Request& request) {
  Json turns = Json::array();
  if (const Json* system = fields.any("system")) {
    if (auto text = content_text(fields, "system", *system, {"text"}); text && !text->empty())
      turns.push_back({{"role", "system"}, {"content", std::move(*text)}});
  }
  fields.require("messages");
  const Json* messages = fields.array("messages");
  if (messages == nullptr || fields.error()) return;
  if (messages->empty()) fields.fault("messages", "messages is empty, wanted at least one message");
  for (std::size_t i = 0; i < messages->size() && !fields.error(); ++i) {
    Json turn = read_message(fields, fmt::format("messages[{}]", i), (*messages)[i]);
    if (!fields.error()) add_turn(turns, std::move(turn));
  }
  if (fields.error()) return;
  // The words of an assistant at the end are the beginning of the answer.
  request.continue_final_message = turns.back()["role"] == "assistant";
  request.messages = json_text(turns);
}

// Whether the model is to reason is a variable of its template.
void read_thinking(Fields& fields, Request& request) {
  const Json* thinking = fields.object("thinking");
  if (thinking == nullptr) return;
  Fields inside(*thinking, "thinking.");
  const std::string type = inside.string("type").value_or("");
  if (type != "enabled" && type != "disabled" && type != "adaptive")
    inside.fault("type", "thinking.type is not \"enabled\", \"adaptive\" or \"disabled\"");
  inside.refuse("budget_tokens", "which is not supported: max_tokens bounds reasoning and answer together");
  inside.refuse("display", "which is not supported: reasoning is always shown");
  if (inside.error()) return fields.fault(inside.error()->field, inside.error()->message);
  request.template_variables = json_text({{"enable_thinking", type != "disabled"}});
}

void refuse_unsupported(Fields& fields) {
  fields.refuse({"tools", "mcp_servers", "container", "context_management", "output_config", "output_format",
                 "diagnostics", "inference_geo"});
  refuse_unless(fields, "speed", "standard");
  if (const Json* choice = fields.any("tool_choice"); choice != nullptr && *choice != Json{{"type", "none"}})
    fields.fault("tool_choice", "the request has tool_choice, which is not supported");
  if (const auto tier = fields.string("service_tier"); tier && *tier != "auto" && *tier != "standard_only")
    fields.fault("service_tier", "service_tier is not \"auto\" or \"standard_only\"");
  fields.string("model");     // Any name is answered by the model that is there.
  fields.object("metadata");  // About who asks.
}

}  // namespace

MessagesAsk read_messages(Fields& fields, const ModelInfo& model, bool counting) {
  MessagesAsk ask;
  read_turns(fields, ask.request);
  read_thinking(fields, ask.request);
  refuse_unsupported(fields);
  if (counting) return ask;
  fields.require("max_tokens");
  if (const auto most = fields.integer("max_tokens", 1, std::numeric_limits<int>::max()))
    ask.request.max_tokens = static_cast<int>(*most);
  read_sampling(fields, model, ask.request);
  read_stop(fields, "stop_sequences", ask.request);
  ask.stream = fields.boolean("stream").value_or(false);
  return ask;
}

}  // namespace plait
