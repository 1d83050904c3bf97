// Upper and title case of the characters for which it is more than one character.
#pragma once

#include <string_view>

namespace plait::jinja {

struct SpecialCase {
  char32_t code;
  std::u32string_view upper;
  std::u32string_view title;
};

const SpecialCase* special_case(char32_t c);  // nullptr: the simple mapping is all.

}  // namespace plait::jinja
