// POST /api/chat and /api/generate: their fields.
#include "server/ollama_ask.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "server/chat_messages.h"
#include "server/events.h"
#include "server/sampling_fields.h"

namespace plait {
namespace {

// true and false, or how hard the model is to think.
void read_think(Fields& fields, Request& request) {
  const Json* think = fields.any("think");
  if (think == nullptr) return;
  if (think->is_boolean()) {
    request.template_variables = json_text({{"enable_thinking", *think}});
  } else if (*think == "low" || *think == "medium" || *think == "high") {
    request.template_variables = json_text({{"enable_thinking", true}, {"reasoning_effort", *think}});
  } else {
    fields.fault("think", "think is not true, false, \"low\", \"medium\" or \"high\"");
  }
}

// What both have. keep_alive is about unloading a model, and the one that is here stays.
void read_shared(Fields& fields, const ModelInfo& model, OllamaAsk& ask) {
  ask.model = fields.string("model").value_or("");
  ask.stream = fields.boolean("stream").value_or(true);
  read_think(fields, ask.request);
  read_ollama_options(fields, model, ask);
  fields.refuse({"format", "tools", "images"});
  fields.refuse("truncate", "which is not supported: a prompt that is too long is refused");
  fields.refuse("shift", "which is not supported: an answer ends where the context is full");
  if (!fields.boolean("logprobs").value_or(false)) {
    fields.refuse("top_logprobs", "which needs logprobs");
    return;
  }
  ask.request.logprobs = static_cast<int>(fields.integer("top_logprobs", 0, 20).value_or(0));
}

// An assistant's "thinking" is what templates call reasoning_content.
std::string read_messages(Fields& fields, const Json& messages) {
  const auto thinks = [](const Json& message) { return message.is_object() && message.contains("thinking"); };
  if (std::none_of(messages.begin(), messages.end(), thinks)) return chat_messages(fields);
  Json named = {{"messages", messages}};
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (!thinks(messages[i])) continue;
    const Json& thinking = messages[i]["thinking"];
    const std::string name = fmt::format("messages[{}].thinking", i);
    if (!thinking.is_string() && !thinking.is_null()) fields.fault(name, fmt::format("{} is not a string", name));
    named["messages"][i]["reasoning_content"] = thinking;
  }
  Fields with_names(std::move(named));
  std::string text = chat_messages(with_names);
  if (with_names.error()) fields.fault(with_names.error()->field, with_names.error()->message);
  return text;
}

}  // namespace

void read_ollama_options(Fields& fields, const ModelInfo& model, OllamaAsk& ask) {
  const Json* given = fields.object("options");
  Fields options(given != nullptr ? *given : Json::object(), "options.");
  read_sampling(options, model, ask.request);
  read_stop(options, "stop", ask.request);
  if (const auto most = options.integer("num_predict", -2, std::numeric_limits<int>::max()))
    ask.request.max_tokens = *most < 0 ? -1 : static_cast<int>(*most);  // -2: as many as fit, as -1 is here.
  if (const auto context = options.integer("num_ctx", 1, std::numeric_limits<int>::max())) {
    if (*context > model.context)
      options.fault("num_ctx", fmt::format("options.num_ctx is {}, and the server was started with a context of {}",
                                           *context, model.context));
    ask.num_ctx = static_cast<int>(*context);
  }
  constexpr std::string_view kFixed = "which is fixed when the server starts";
  for (const std::string_view key :
       {"num_batch", "num_gpu", "main_gpu", "num_thread", "use_mmap", "use_mlock", "f16_kv"}) {
    if (options.any(key) != nullptr) options.fault(key, fmt::format("the request has options.{}, {}", key, kFixed));
  }
  for (const std::string_view key : {"numa", "low_vram", "vocab_only", "logits_all", "embedding_only"})
    options.refuse(key, kFixed);
  for (const std::string_view key : {"num_keep", "mirostat"}) refuse_unless(options, key, 0);
  refuse_unless(options, "penalize_newline", true);
  if (options.error()) fields.fault(options.error()->field, options.error()->message);
}

OllamaAsk read_ollama_chat(Fields& fields, const ModelInfo& model) {
  OllamaAsk ask;
  read_shared(fields, model, ask);
  const Json* messages = fields.array("messages");
  ask.load = messages == nullptr || messages->empty();
  if (ask.load || fields.error()) return ask;
  ask.request.messages = read_messages(fields, *messages);
  return ask;
}

OllamaAsk read_ollama_generate(Fields& fields, const ModelInfo& model) {
  OllamaAsk ask;
  read_shared(fields, model, ask);
  ask.raw = fields.boolean("raw").value_or(false);
  const std::string prompt = fields.string("prompt").value_or("");
  const std::string system = fields.string("system").value_or("");
  fields.refuse({"suffix", "template", "context", "width", "height", "steps"});
  ask.load = prompt.empty() && system.empty();
  if (ask.load || fields.error()) return ask;
  if (ask.raw) {
    if (!system.empty()) fields.fault("system", "the request has system, which raw leaves no place for");
    if (fields.any("think") != nullptr) fields.fault("think", "the request has think, which raw leaves no place for");
    ask.request.text = prompt;
    return ask;
  }
  Json messages = Json::array();
  if (!system.empty()) messages.push_back({{"role", "system"}, {"content", system}});
  messages.push_back({{"role", "user"}, {"content", prompt}});
  ask.request.messages = json_text(messages);
  return ask;
}

}  // namespace plait
