// Answers wanted as a whole.
#include "server/whole.h"

#include <algorithm>

namespace plait {

namespace {

constexpr std::size_t kTogether = 32;  // Inputs of one request: the queue is everybody's.

}  // namespace

Result<std::string> settle_prompt(const Engine& engine, Request& request) {
  Result<Prompt> prompt = engine.prepare(request);
  if (!prompt) return fail(prompt.error());
  if (prompt->tokens.empty()) return fail(ErrorCode::kInvalidArgument, "the prompt has no tokens, wanted at least one");
  request.text.reset();
  request.messages.reset();
  request.tokens = std::move(prompt->tokens);
  return std::move(prompt->text);
}

std::optional<std::vector<Whole>> collect(Service& service, Reply& reply, Dialect dialect,
                                          std::vector<Request> requests, const GenerateOptions& options) {
  std::vector<Whole> wholes(requests.size());
  const bool scored = !requests.empty() && requests.front().logprobs.has_value();
  GenerateSink sink;
  sink.piece = [&](const Piece& piece) {
    Whole& whole = wholes[static_cast<std::size_t>(piece.choice)];
    whole.text += piece.text;
    whole.reasoning += piece.reasoning;
    if (piece.event == nullptr || piece.event->kind != Event::Kind::kToken) return;
    whole.tokens.push_back(piece.event->token);
    if (scored) whole.scores.push_back({piece.event->logprob, piece.event->alternatives});
  };
  sink.finish = [&](int choice, const Event& end) { wholes[static_cast<std::size_t>(choice)].end = end; };
  const Result<void> done = generate(service, reply, std::move(requests), options, sink);
  if (done && !reply.gone()) return wholes;
  send_error(reply, dialect, done ? HttpError{499, "the client has left", {}} : http_error(done.error()));
  return std::nullopt;
}

std::optional<std::vector<Embedding>> collect_embeddings(Service& service, Reply& reply, Dialect dialect,
                                                         std::vector<Request> requests) {
  std::vector<Embedding> embeddings;
  for (std::size_t at = 0; at < requests.size(); at += kTogether) {
    const std::size_t end = std::min(at + kTogether, requests.size());
    std::vector<Request> some(requests.begin() + static_cast<std::ptrdiff_t>(at),
                              requests.begin() + static_cast<std::ptrdiff_t>(end));
    auto wholes = collect(service, reply, dialect, std::move(some));
    if (!wholes) return std::nullopt;
    for (Whole& whole : *wholes) embeddings.push_back({std::move(whole.end.embedding), whole.end.usage});
  }
  return embeddings;
}

}  // namespace plait
