// Messages of a chat: what is taken, and what is refused by name.
#include "server/chat_messages.h"

#include <fmt/format.h>

#include <algorithm>

#include "server/events.h"

namespace plait {
namespace {

// Null is as good as absent.
const Json* member(const Json& object, std::string_view key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

bool is_list(const Json* value) { return value != nullptr && value->is_array() && !value->empty(); }

std::optional<std::string> text_of_part(Fields& fields, const std::string& name, const Json& part,
                                        std::initializer_list<std::string_view> types) {
  const Json* type = part.is_object() ? member(part, "type") : nullptr;
  if (type == nullptr || !type->is_string()) {
    fields.fault(name, fmt::format("{} is not an object with a type, wanted {{\"type\": \"{}\", \"text\": ...}}", name,
                                   *types.begin()));
    return std::nullopt;
  }
  const std::string& kind = type->get_ref<const std::string&>();
  if (std::find(types.begin(), types.end(), kind) == types.end()) {
    fields.fault(name + ".type", fmt::format("{}.type is \"{}\", and only parts of type \"{}\" are supported", name,
                                             kind, fmt::join(types, "\" or \"")));
    return std::nullopt;
  }
  const Json* text = member(part, "text");
  if (text == nullptr || !text->is_string()) {
    fields.fault(name + ".text", fmt::format("{}.text is missing or not a string", name));
    return std::nullopt;
  }
  return text->get<std::string>();
}

// What only other roles or other kinds of messages have.
bool has_refused_member(Fields& fields, const std::string& name, const Json& message) {
  for (const std::string_view key : {"tool_calls", "function_call", "tool_call_id", "audio", "images"}) {
    const Json* value = member(message, key);
    if (value == nullptr || (value->is_array() && !is_list(value))) continue;
    fields.fault(fmt::format("{}.{}", name, key), fmt::format("{} has {}, which is not supported", name, key));
    return true;
  }
  return false;
}

std::optional<std::string> role_of(Fields& fields, const std::string& name, const Json& message) {
  const std::string at = name + ".role";
  const Json* role = member(message, "role");
  if (role == nullptr || !role->is_string()) {
    fields.fault(at, fmt::format("{} is missing or not a string", at));
    return std::nullopt;
  }
  const std::string& text = role->get_ref<const std::string&>();
  if (text == "developer") return "system";
  if (text == "system" || text == "user" || text == "assistant") return text;
  if (text == "tool" || text == "function") {
    fields.fault(at, fmt::format("{} is \"{}\", and tools are not supported", at, text));
  } else {
    fields.fault(at, fmt::format("{} is \"{}\", wanted system, developer, user or assistant", at, text));
  }
  return std::nullopt;
}

// As a template sees it; null: there was a fault.
Json checked_message(Fields& fields, const std::string& name, const Json& message) {
  if (!message.is_object()) {
    fields.fault(name, fmt::format("{} is not an object, wanted {{\"role\": ..., \"content\": ...}}", name));
    return nullptr;
  }
  const auto role = role_of(fields, name, message);
  if (!role || has_refused_member(fields, name, message)) return nullptr;
  const Json* content = member(message, "content");
  if (content == nullptr) {
    fields.fault(name + ".content", fmt::format("{}.content is missing", name));
    return nullptr;
  }
  auto text = content_text(fields, name + ".content", *content, {"text"});
  if (!text) return nullptr;
  Json made = {{"role", *role}, {"content", std::move(*text)}};
  for (const std::string_view key : {"name", "reasoning_content"}) {  // Templates may use them.
    const Json* value = member(message, key);
    if (value == nullptr) continue;
    if (!value->is_string()) {
      fields.fault(fmt::format("{}.{}", name, key), fmt::format("{}.{} is not a string", name, key));
      return nullptr;
    }
    made[std::string(key)] = *value;
  }
  return made;
}

}  // namespace

std::optional<std::string> content_text(Fields& fields, const std::string& name, const Json& content,
                                        std::initializer_list<std::string_view> types) {
  if (content.is_string()) return content.get<std::string>();
  if (!content.is_array()) {
    fields.fault(name, fmt::format("{} is neither a string nor an array of parts", name));
    return std::nullopt;
  }
  std::string text;
  for (std::size_t i = 0; i < content.size(); ++i) {
    const auto part = text_of_part(fields, fmt::format("{}[{}]", name, i), content[i], types);
    if (!part) return std::nullopt;
    if (i > 0) text += '\n';
    text += *part;
  }
  return text;
}

std::string chat_messages(Fields& fields, std::string_view key) {
  fields.require(key);
  const Json* messages = fields.array(key);
  if (messages == nullptr) return {};
  if (messages->empty()) fields.fault(key, fmt::format("{} is empty, wanted at least one message", key));
  Json made = Json::array();
  for (std::size_t i = 0; i < messages->size() && !fields.error(); ++i) {
    made.push_back(checked_message(fields, fmt::format("{}[{}]", key, i), (*messages)[i]));
  }
  return fields.error() ? std::string() : json_text(made);
}

const Json* template_kwargs(Fields& fields) {
  const Json* variables = fields.object("chat_template_kwargs");
  if (variables != nullptr && variables->contains("messages"))
    fields.fault("chat_template_kwargs", "chat_template_kwargs has messages, which have a field of their own");
  return variables;
}

}  // namespace plait
