// POST /completion: its fields.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "server/llama_server_completion.h"
#include "server/sampling_fields.h"

namespace plait {
namespace {

constexpr std::size_t kMostRequests = 64;
constexpr std::size_t kMostFields = 64;

// The order in which tokens are sifted here; between them may stand samplers that are off.
constexpr std::string_view kOrder[] = {"penalties", "top_k", "top_p", "min_p", "temperature"};
constexpr std::string_view kOff[] = {"dry", "top_n_sigma", "typ_p", "typical_p", "xtc"};

// What the list leaves out is off.
void read_samplers(Fields& fields, SampleOptions& sampling) {
  if (fields.any("samplers") == nullptr) return;
  const std::vector<std::string> names = fields.strings("samplers", 32);
  std::vector<std::string_view> used;
  for (const std::string& name : names) {
    if (std::find(std::begin(kOff), std::end(kOff), name) == std::end(kOff)) used.push_back(name);
  }
  auto next = std::begin(kOrder);
  for (const std::string_view name : used) {
    next = std::find(next, std::end(kOrder), name);
    if (next == std::end(kOrder))
      return fields.fault("samplers", fmt::format("samplers are {}, and only this order is supported: {}",
                                                  fmt::join(names, ", "), fmt::join(kOrder, ", ")));
    ++next;
  }
  const auto off = [&](std::string_view name) { return std::find(used.begin(), used.end(), name) == used.end(); };
  if (off("penalties")) sampling.repeat_last_n = 0;
  if (off("top_k")) sampling.top_k = 0;
  if (off("top_p")) sampling.top_p = 1;
  if (off("min_p")) sampling.min_p = 0;
  if (off("temperature")) sampling.temp = 1;
}

void refuse_unsupported(Fields& fields) {
  fields.refuse({"grammar", "json_schema", "response_format", "tools", "post_sampling_probs", "lora", "image_data",
                 "system_prompt", "backend_sampling", "input_prefix", "input_suffix", "input_extra"});
  for (const std::string_view key : {"n_keep", "n_indent", "n_cache_reuse", "t_max_predict_ms", "min_keep"})
    refuse_unless(fields, key, 0);
  refuse_unless(fields, "id_slot", -1);  // There are no slots to choose from.
  refuse_unless(fields, "adaptive_target", -1);
  fields.boolean("cache_prompt");  // A hint: an answer has the same bits either way.
}

// One prompt: a text, a list of ids and texts, or {"prompt_string"}.
std::optional<std::vector<Token>> prompt_tokens(Fields& fields, const Engine& engine, const std::string& name,
                                                const Json& prompt) {
  const Json* value = &prompt;
  if (prompt.is_object()) {
    const auto media = prompt.find("multimodal_data");
    if (media != prompt.end() && !media->empty()) {
      fields.fault("prompt", fmt::format("{} has multimodal_data, which is not supported", name));
      return std::nullopt;
    }
    const auto text = prompt.find("prompt_string");
    if (text == prompt.end() || !text->is_string()) {
      fields.fault("prompt", fmt::format("{} is an object without the string prompt_string", name));
      return std::nullopt;
    }
    value = &*text;
  }
  if (!value->is_string()) {
    const auto context = static_cast<std::size_t>(engine.info().context);
    return mixed_tokens(fields, engine, name, *value, {.most_tokens = context, .add_special = true});
  }
  Request request;
  request.text = value->get<std::string>();
  Result<Prompt> cut = engine.prepare(request);  // Which sees to what is too long to be cut.
  if (cut) return std::move(cut->tokens);
  fields.fault("prompt", cut.error().message);
  return std::nullopt;
}

// A list is one prompt if an id stands in it, and else a list of prompts.
bool is_list_of_prompts(const Json& prompt) {
  return prompt.is_array() && std::none_of(prompt.begin(), prompt.end(), [](const Json& p) { return p.is_number(); });
}

std::vector<std::vector<Token>> read_prompts(Fields& fields, const Engine& engine, std::int64_t copies) {
  std::vector<std::vector<Token>> prompts;
  fields.require("prompt");
  const Json* prompt = fields.any("prompt");
  if (prompt == nullptr) return prompts;
  const auto add = [&](const std::string& name, const Json& one) {
    if (auto tokens = prompt_tokens(fields, engine, name, one)) prompts.push_back(std::move(*tokens));
  };
  if (!is_list_of_prompts(*prompt)) {
    add("prompt", *prompt);
    return prompts;
  }
  if (prompt->empty() || prompt->size() * static_cast<std::size_t>(copies) > kMostRequests) {
    fields.fault("prompt", fmt::format("prompt is a list of {}, wanted 1 to {}", prompt->size(),
                                       kMostRequests / static_cast<std::size_t>(copies)));
    return prompts;
  }
  for (std::size_t i = 0; i < prompt->size() && !fields.error(); ++i) add(fmt::format("prompt[{}]", i), (*prompt)[i]);
  return prompts;
}

}  // namespace

CompletionAsk read_completion(Fields& fields, const Engine& engine) {
  CompletionAsk ask;
  Request request;
  read_sampling(fields, engine.info(), request);
  read_samplers(fields, request.sampling);
  read_stop(fields, "stop", request);
  read_max_tokens(fields, {"n_predict", "max_tokens"}, request);
  refuse_unsupported(fields);
  if (const auto count = fields.integer("n_probs", 0, 100); count && *count > 0)
    request.logprobs = static_cast<int>(*count);
  ask.stream = fields.boolean("stream").value_or(false);
  ask.return_tokens = fields.boolean("return_tokens").value_or(false);
  ask.timings_per_token = fields.boolean("timings_per_token").value_or(false);
  ask.return_progress = fields.boolean("return_progress").value_or(false);
  ask.response_fields = fields.strings("response_fields", kMostFields);
  ask.ping_s = fields.integer("sse_ping_interval", -1, 1 << 20);
  const std::int64_t copies = fields.integer("n_cmpl", 1, kMostRequests).value_or(1);
  const Json* prompt = fields.any("prompt");
  ask.list = copies > 1 || (prompt != nullptr && is_list_of_prompts(*prompt));
  for (std::vector<Token>& tokens : read_prompts(fields, engine, copies)) {
    if (tokens.empty()) fields.fault("prompt", "the prompt has no tokens, wanted at least one");
    request.tokens = std::move(tokens);
    const std::uint64_t seed = request.sampling.seed;
    for (std::int64_t i = 0; i < copies; ++i) {
      request.sampling.seed = seed + static_cast<std::uint64_t>(i);
      ask.requests.push_back(request);
    }
    request.sampling.seed = seed;
  }
  return ask;
}

}  // namespace plait
