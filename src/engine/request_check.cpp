// check_request(): sampling, counts, what goes together, the prompt's tokens and their number.
#include "engine/request_check.h"

#include <fmt/format.h>

#include "decode/sample.h"
#include "decode/stop.h"

namespace plait {
namespace {

Result<void> check_count(const char* field, std::optional<int> count) {
  if (!count || (*count >= 0 && *count <= 100)) return {};
  return fail(ErrorCode::kInvalidArgument, fmt::format("{} is {}, wanted 0 to 100", field, *count));
}

// What an embedding has no answer for is not quietly left out.
Result<void> check_embedding(const Request& request) {
  if (request.embedding == Pooling::kNone) return {};
  const char* field = request.logprobs          ? "logprobs"
                      : request.prompt_logprobs ? "prompt_logprobs"
                      : !request.stop.empty()   ? "stop"
                      : request.max_tokens > 0  ? "max_tokens"
                                                : nullptr;
  if (field == nullptr) return {};
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("{} is given, but a request for an embedding generates nothing", field));
}

Result<void> check_prompt(std::span<const Token> prompt, bool answered, const RequestLimits& limits) {
  if (prompt.empty()) return fail(ErrorCode::kInvalidArgument, "the prompt has no tokens, wanted at least one");
  for (std::size_t i = 0; i < prompt.size(); ++i) {
    if (prompt[i] < 0 || prompt[i] >= limits.vocabulary)
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("token {} of the prompt is {}, wanted 0 to {}", i + 1, prompt[i], limits.vocabulary - 1));
  }
  const auto context = static_cast<std::size_t>(limits.context);
  if (answered && prompt.size() >= context)
    return fail(ErrorCode::kTooLong,
                fmt::format("the prompt has {} tokens, which leaves no room for an answer in a context of {}",
                            prompt.size(), limits.context));
  if (prompt.size() > context)
    return fail(ErrorCode::kTooLong,
                fmt::format("the prompt has {} tokens, the context has room for {}", prompt.size(), limits.context));
  if (static_cast<int>(prompt.size()) > limits.most_tokens)
    return fail(
        ErrorCode::kTooLong,  // It can never fit.
        fmt::format("the prompt has {} tokens, there is memory for the rows of {}", prompt.size(), limits.most_tokens));
  return {};
}

}  // namespace

Result<void> check_request(const Request& request, std::span<const Token> prompt, const RequestLimits& limits) {
  if (auto checked = check_sampling(request.sampling, limits.vocabulary); !checked) return checked;
  if (auto checked = check_stop_strings(request.stop); !checked) return checked;
  if (request.max_tokens < -1)
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("max_tokens is {}, wanted -1 (as many as fit) or a count", request.max_tokens));
  if (auto checked = check_count("logprobs", request.logprobs); !checked) return checked;
  if (auto checked = check_count("prompt_logprobs", request.prompt_logprobs); !checked) return checked;
  if (auto checked = check_embedding(request); !checked) return checked;
  const bool answered = request.embedding == Pooling::kNone && request.max_tokens != 0;
  return check_prompt(prompt, answered, limits);
}

}  // namespace plait
