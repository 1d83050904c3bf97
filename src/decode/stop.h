// StopMatcher: ends a text before the first stop string, wherever the borders of its pieces lie.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plait/result.h"

namespace plait {

// Fails on an empty stop string, on one that is not UTF-8, and on too many or too long ones; the message counts from 1.
Result<void> check_stop_strings(const std::vector<std::string>& stops);

// The stop string that is complete first ends the text; of several at the same place, the longest. What could still
// become one is held back. As stop strings begin with a whole character, whole characters in give whole characters out.
// Time is linear in text times the number of strings.
class StopMatcher {
 public:
  explicit StopMatcher(std::vector<std::string> stops);  // They have passed check_stop_strings.

  std::string add(std::string_view text);  // What may be shown now. Nothing once stopped.
  std::string finish();                    // What was held back, at the end of a text that was not stopped.
  bool stopped() const { return stopped_; }
  const std::string& found() const { return found_; }  // The stop string that ended the text; empty if none did.

 private:
  struct Automaton {  // Knuth, Morris and Pratt.
    std::string text;
    std::vector<std::size_t> back;  // After i matched bytes and a mismatch: how many still match.
    std::size_t matched = 0;
    void advance(char byte);
  };
  std::vector<Automaton> automata_;
  std::string held_, found_;
  bool stopped_ = false;
};

}  // namespace plait
