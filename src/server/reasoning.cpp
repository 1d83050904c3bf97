// ReasoningSplitter: a small state machine over held-back text.
#include "server/reasoning.h"

#include <algorithm>

namespace plait {
namespace {

constexpr std::string_view kOpen = "<think>", kClose = "</think>";
constexpr std::string_view kSpace = " \t\r\n";

// How many last bytes of `text` begin `tag`.
std::size_t begun(std::string_view text, std::string_view tag) {
  for (std::size_t n = std::min(text.size(), tag.size() - 1); n > 0; --n) {
    if (tag.starts_with(text.substr(text.size() - n))) return n;
  }
  return 0;
}

std::string_view without_space_first(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  return text;
}

// The bytes of white space at the end.
std::size_t space_last(std::string_view text) {
  const std::size_t last = text.find_last_not_of(kSpace);
  return last == std::string_view::npos ? text.size() : text.size() - last - 1;
}

}  // namespace

ReasoningSplitter::Parts ReasoningSplitter::add(std::string_view piece) {
  if (state_ == State::kAnswer) return {std::string(piece), {}};
  held_ += piece;
  Parts parts;
  if (state_ == State::kBefore) {
    const std::string_view rest = without_space_first(held_);
    if (rest.empty() || (rest.size() < kOpen.size() && kOpen.starts_with(rest))) return parts;
    if (!rest.starts_with(kOpen)) {
      state_ = State::kAnswer;
      parts.text = std::exchange(held_, {});
      return parts;
    }
    state_ = State::kInside;
    held_ = std::string(rest.substr(kOpen.size()));
  }
  if (state_ == State::kInside) {
    if (!said_) held_ = std::string(without_space_first(held_));
    const std::size_t end = held_.find(kClose);
    if (end == std::string::npos) {
      // White space before a tag that may come is held back with it.
      std::size_t keep = begun(held_, kClose);
      keep += space_last(std::string_view(held_).substr(0, held_.size() - keep));
      parts.reasoning = held_.substr(0, held_.size() - keep);
      held_.erase(0, held_.size() - keep);
      said_ = said_ || !parts.reasoning.empty();
      return parts;
    }
    parts.reasoning = held_.substr(0, end - space_last(std::string_view(held_).substr(0, end)));
    held_.erase(0, end + kClose.size());
    state_ = State::kAfter;
  }
  held_ = std::string(without_space_first(held_));
  if (!held_.empty()) {
    parts.text = std::exchange(held_, {});
    state_ = State::kAnswer;
  }
  return parts;
}

ReasoningSplitter::Parts ReasoningSplitter::finish() {
  Parts parts;
  if (state_ == State::kInside) {
    parts.reasoning = std::exchange(held_, {});
  } else if (state_ == State::kBefore) {
    parts.text = std::exchange(held_, {});
  }
  return parts;
}

}  // namespace plait
