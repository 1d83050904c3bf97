// A tiny model file that says what a test wants, whatever it is asked.
#pragma once

#include <string>
#include <vector>

#include "support/temporary_directory.h"

namespace plait::test {

struct Talk {
  std::vector<std::string> pieces;  // One token each, said in this order; at most 60, none a single byte or twice.
  bool ends = true;                 // Then an end token; or else the pieces again.
  bool breaks = false;              // Then a logit that is infinite, so that the request fails.
  std::string chat_template = {};   // Empty: the file has none.
  std::string name = "talker";      // general.name
};

// The id of a piece, which no text leads to.
constexpr int piece_token(int number) { return 300 + number; }

// The vocabulary is that of a made model: bytes, <|endoftext|> (256), <|im_start|>, <|im_end|>, " a" to " z".
std::string write_talking_model(const TemporaryDirectory& directory, const Talk& talk);

}  // namespace plait::test
