// Fields about sampling, stops and lengths.
#include "server/sampling_fields.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <random>

#include "server/events.h"

namespace plait {
namespace {

constexpr std::size_t kMostBiases = 4096;
constexpr std::size_t kMostStops = 64, kMostStopBytes = 1024;  // The engine takes no more.
constexpr std::int64_t kMostTokens = std::numeric_limits<int>::max();

template <class T, class From>
void set(T& to, const std::optional<From>& from) {
  if (from) to = static_cast<T>(*from);
}

std::uint64_t random_seed() {
  std::random_device random;
  return static_cast<std::uint64_t>(random()) << 32 | random();
}

// Nothing: not a token's id.
std::optional<Token> token_of(const Json& id) {
  Token token = -1;
  if (id.is_string()) {
    const std::string& text = id.get_ref<const std::string&>();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), token);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  } else if (id.is_number_integer()) {
    const double number = id.get<double>();
    if (number < 0 || number > kMostTokens) return std::nullopt;
    token = id.get<Token>();
  }
  return token < 0 ? std::nullopt : std::optional<Token>(token);
}

void add_bias(Fields& fields, const ModelInfo& model, const Json& id, const Json& bias, Request& request) {
  const std::optional<Token> token = token_of(id);
  if (!token || *token >= model.vocabulary) {
    fields.fault("logit_bias", fmt::format("logit_bias names token {}, wanted an id from 0 to {}", json_text(id),
                                           model.vocabulary - 1));
  } else if (bias == false) {  // llama-server's way to say never.
    request.sampling.logit_bias.push_back({*token, -std::numeric_limits<double>::infinity()});
  } else if (!bias.is_number() || !(std::fabs(bias.get<double>()) <= 100)) {
    fields.fault("logit_bias", fmt::format("logit_bias of token {} is not a number from -100 to 100", *token));
  } else {
    request.sampling.logit_bias.push_back({*token, bias.get<double>()});
  }
}

// {"id": bias} as OpenAI has it, or [[id, bias], ...] as llama-server has it. The number is added to the logit: -100
// leaves a token practically no chance, false none at all.
void read_logit_bias(Fields& fields, const ModelInfo& model, Request& request) {
  const Json* biases = fields.any("logit_bias");
  if (biases == nullptr) return;
  if (!biases->is_object() && !biases->is_array())
    return fields.fault("logit_bias", "logit_bias is neither an object {id: bias} nor a list of [id, bias]");
  if (biases->size() > kMostBiases)
    return fields.fault("logit_bias",
                        fmt::format("logit_bias has {} entries, wanted at most {}", biases->size(), kMostBiases));
  if (biases->is_object()) {
    for (const auto& [id, bias] : biases->items()) add_bias(fields, model, id, bias, request);
    return;
  }
  for (const Json& pair : *biases) {
    if (!pair.is_array() || pair.size() != 2)
      return fields.fault("logit_bias", "logit_bias has an entry that is not a pair [id, bias]");
    add_bias(fields, model, pair[0], pair[1], request);
  }
}

}  // namespace

void refuse_unless(Fields& fields, std::string_view key, const Json& value) {
  const Json* given = fields.any(key);
  if (given != nullptr && *given != value)
    fields.fault(key, fmt::format("{} is not supported, only {} is accepted", fields.name(key), json_text(value)));
}

void read_sampling(Fields& fields, const ModelInfo& model, Request& request) {
  request.sampling = model.sampling;
  SampleOptions& sampling = request.sampling;
  set(sampling.temp, fields.number("temperature", 0, 100));
  set(sampling.top_k, fields.integer("top_k", -1, kMostTokens));
  set(sampling.top_p, fields.number("top_p", 0, 1));
  set(sampling.min_p, fields.number("min_p", 0, 1));
  set(sampling.repeat_penalty, fields.number("repetition_penalty", 0.01, 100));
  set(sampling.repeat_penalty, fields.number("repeat_penalty", 0.01, 100));
  set(sampling.presence_penalty, fields.number("presence_penalty", -2, 2));
  set(sampling.frequency_penalty, fields.number("frequency_penalty", -2, 2));
  set(sampling.repeat_last_n, fields.integer("repeat_last_n", -1, kMostTokens));
  const auto seed =
      fields.integer("seed", std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
  sampling.seed = seed && *seed != -1 ? static_cast<std::uint64_t>(*seed) : random_seed();
  read_logit_bias(fields, model, request);
  set(request.ignore_end, fields.boolean("ignore_eos"));
  for (const std::string_view key : {"mirostat", "dynatemp_range", "xtc_probability", "dry_multiplier", "min_tokens"})
    refuse_unless(fields, key, 0);
  for (const std::string_view key : {"typical_p", "tfs_z", "length_penalty"}) refuse_unless(fields, key, 1);
  refuse_unless(fields, "top_n_sigma", -1);
  fields.refuse({"use_beam_search", "stop_token_ids", "bad_words", "allowed_token_ids"});
}

void read_stop(Fields& fields, std::string_view key, Request& request) {
  request.stop = fields.strings(key, kMostStops);
  for (const std::string& stop : request.stop) {
    if (stop.empty() || stop.size() > kMostStopBytes)
      fields.fault(key, fmt::format("{} has a string of {} bytes, wanted 1 to {}", key, stop.size(), kMostStopBytes));
  }
}

void read_max_tokens(Fields& fields, std::initializer_list<std::string_view> keys, Request& request) {
  for (const std::string_view key : keys) {
    const auto count = fields.integer(key, -1, kMostTokens);
    if (!count) continue;
    request.max_tokens = static_cast<int>(*count);
    return;
  }
}

}  // namespace plait
