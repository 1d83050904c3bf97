// Text from outside, made safe to show: no terminal control codes, no invalid UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace plait {

// The same text, with every control character, line or paragraph separator, bidirectional control and every byte that
// is not UTF-8 written as an escape: \n, \t, \x1b, \u{202e}. What a terminal shows is then what the file says.
std::string printable(std::string_view text);

// Whether printable() would change nothing.
bool is_printable(std::string_view text);

}  // namespace plait
