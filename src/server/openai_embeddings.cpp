// POST /v1/embeddings.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "server/generate.h"
#include "server/openai.h"
#include "server/prompts.h"

namespace plait {
namespace {

constexpr std::size_t kMostInputs = 2048;
constexpr std::size_t kAtOnce = 64;  // Submitted; the engine's queue must have room for others.

// RFC 4648.
std::string base64(std::span<const unsigned char> bytes) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i) bits = bits << 8 | (i < count ? bytes[at + i] : 0u);
    for (std::size_t i = 0; i < 4; ++i) text += i <= count ? kLetters[bits >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

// Little-endian floats.
std::string base64_of(const std::vector<float>& values) {
  std::vector<unsigned char> bytes;
  for (const float value : values) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<unsigned char>(bits >> shift));
  }
  return base64(bytes);
}

struct EmbeddingCall {
  std::vector<Request> requests;
  bool as_text = false;  // base64
};

EmbeddingCall read_call(Fields& fields, const ModelInfo& model) {
  EmbeddingCall call;
  call.requests = read_prompts(fields, "input", kMostInputs);
  const std::string pooling = fields.string("pooling").value_or("mean");
  if (pooling != "mean" && pooling != "last")
    fields.fault("pooling", fmt::format("pooling is \"{}\", wanted mean or last", pooling));
  for (Request& request : call.requests) request.embedding = pooling == "last" ? Pooling::kLast : Pooling::kMean;
  const std::string format = fields.string("encoding_format").value_or("float");
  if (format != "float" && format != "base64")
    fields.fault("encoding_format", fmt::format("encoding_format is \"{}\", wanted float or base64", format));
  call.as_text = format == "base64";
  const auto width = fields.integer("dimensions", 1, 1 << 20);
  if (width && *width != model.width)
    fields.fault("dimensions",
                 fmt::format("dimensions is {}, and embeddings of this model have {}", *width, model.width));
  fields.string("model");
  return call;
}

void embeddings(Service& service, const HttpRequest& http, Reply& reply) {
  Fields fields(http.body);
  EmbeddingCall call = read_call(fields, service.engine.info());
  if (fields.error()) return send_error(reply, Dialect::kOpenAi, *fields.error());
  std::vector<Json> data(call.requests.size());
  UsageSum usage;
  for (std::size_t from = 0; from < data.size(); from += kAtOnce) {
    const std::size_t count = std::min(kAtOnce, data.size() - from);
    std::vector<Request> requests(count);
    std::move(call.requests.begin() + static_cast<std::ptrdiff_t>(from),
              call.requests.begin() + static_cast<std::ptrdiff_t>(from + count), requests.begin());
    GenerateSink sink;
    sink.finish = [&](int choice, const Event& event) {
      const std::size_t index = from + static_cast<std::size_t>(choice);
      usage.add(event.usage, true);
      Json vector = call.as_text ? Json(base64_of(event.embedding)) : Json(event.embedding);
      data[index] = {{"object", "embedding"}, {"index", index}, {"embedding", std::move(vector)}};
    };
    if (!went_well(reply, generate(service, reply, std::move(requests), {}, sink))) return;
  }
  send_json(reply, {{"object", "list"},
                    {"data", std::move(data)},
                    {"model", service.model_name},
                    {"usage", {{"prompt_tokens", usage.prompt_tokens}, {"total_tokens", usage.prompt_tokens}}}});
}

}  // namespace

void add_embedding_routes(Router& router, Service& service) {
  router.add("POST", "/v1/embeddings",
             [&service](const HttpRequest& request, Reply& reply) { embeddings(service, request, reply); });
}

}  // namespace plait
