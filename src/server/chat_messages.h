// Messages of a chat as OpenAI's clients send them, checked and made ready for a model's template.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "server/fields.h"

namespace plait {

// The text of a message's content: a string, or a list of parts {"type", "text"} whose type is one of `types`, joined
// by newlines. `name` is what a fault calls the content: "messages[2].content". Nothing: there was a fault.
std::optional<std::string> content_text(Fields& fields, const std::string& name, const Json& content,
                                        std::initializer_list<std::string_view> types);

// The array `key` as JSON text for Request::messages: each has a role and a content of plain text. "developer" becomes
// "system"; images, audio, files and whatever belongs to tools are refused by name. Empty: there was a fault.
std::string chat_messages(Fields& fields, std::string_view key = "messages");

// chat_template_kwargs: more variables for the template, which cannot take the place of the messages. Null: none.
const Json* template_kwargs(Fields& fields);

}  // namespace plait
