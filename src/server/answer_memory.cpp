// What answers may take: an upper bound from the request alone.
#include "server/answer_memory.h"

#include <fmt/format.h>

#include <algorithm>

namespace plait {
namespace {

constexpr std::size_t kTokenBytes = 16;  // Its id, and its text.
constexpr int kBesides = 3;              // A token's own log-probability, and about what its list takes.

std::size_t most_tokens(const Request& request, int context) {
  const int room = context - static_cast<int>(std::min<std::size_t>(request.tokens.size(), 1u << 30));
  return static_cast<std::size_t>(std::max(0, request.max_tokens < 0 ? room : std::min(room, request.max_tokens)));
}

std::size_t scores_of(const std::optional<int>& alternatives) {
  return alternatives ? static_cast<std::size_t>(*alternatives + kBesides) : 0;
}

}  // namespace

bool AnswerBudget::take(std::size_t bytes) {
  std::size_t left = left_;
  do {
    if (bytes > left) return false;
  } while (!left_.compare_exchange_weak(left, left - bytes));
  return true;
}

std::size_t most_answer_bytes(std::span<const Request> requests, int context, const AnswerKeeping& keeping) {
  const auto queued = static_cast<std::size_t>(EngineOptions{}.queue_events);  // A stream holds no more.
  std::size_t bytes = 0;
  for (const Request& request : requests) {
    std::size_t tokens = most_tokens(request, context);
    if (!keeping.whole) tokens = std::min(tokens, queued);
    bytes += tokens * (kTokenBytes + scores_of(request.logprobs) * keeping.score_bytes);
    bytes += request.tokens.size() * scores_of(request.prompt_logprobs) * keeping.score_bytes;
  }
  return bytes;
}

std::optional<HttpError> AnswerHold::take(std::span<const Request> requests, int context, const AnswerKeeping& keeping,
                                          std::string_view scores, std::string_view length) {
  if (requests.empty()) return std::nullopt;
  const std::size_t bytes = most_answer_bytes(requests, context, keeping);
  const bool scored = requests.front().logprobs || requests.front().prompt_logprobs;
  if (bytes > kMostAnswerBytes) {
    std::size_t tokens = 0;
    for (const Request& request : requests) tokens = std::max(tokens, most_tokens(request, context));
    const std::string_view field = scored ? scores : length;
    const int found =
        !scored ? requests.front().max_tokens
                : std::max(requests.front().logprobs.value_or(0), requests.front().prompt_logprobs.value_or(0));
    return HttpError{400,
                     fmt::format("{} is {}: {} answers of up to {} tokens{} could take {} bytes of memory, wanted at "
                                 "most {}; ask for fewer of them, or bound them by {}",
                                 field, found, requests.size(), tokens, scored ? " with their log-probabilities" : "",
                                 bytes, kMostAnswerBytes, length),
                     std::string(field)};
  }
  if (!scored) return std::nullopt;  // Text alone is small, and what it takes is bounded by how many run.
  if (!budget_.take(bytes))
    return HttpError{429, "the log-probabilities of other answers take all the memory for them; try again later", {}};
  held_ += bytes;
  return std::nullopt;
}

}  // namespace plait
