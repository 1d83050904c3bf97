// ReasoningSplitter: parts what a model thinks from what it answers, piece by piece.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace plait {

// Text between "<think>" and "</think>" is reasoning. Only the first such part counts, and only at the beginning (white
// space may stand before it); white space around both tags is dropped. What could still become a tag is held back.
class ReasoningSplitter {
 public:
  ReasoningSplitter(bool on, bool starts_inside)
      : state_(!on             ? State::kAnswer
               : starts_inside ? State::kInside
                               : State::kBefore) {}

  struct Parts {
    std::string text, reasoning;
  };
  Parts add(std::string_view piece);
  Parts finish();  // What was held back.

 private:
  enum class State { kBefore, kInside, kAfter, kAnswer };  // kAfter: between </think> and the answer's first letter.
  State state_;
  std::string held_;
  bool said_ = false;  // Some reasoning was handed out.
};

}  // namespace plait
