// Text algorithms that filters and methods share: lines, wrapping, tags, quoting for URLs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plait::jinja {

std::vector<std::string> split_lines(std::string_view text, bool keep_ends);  // str.splitlines()

struct WrapRules {
  std::size_t width = 79;
  bool break_long_words = true;
  bool break_on_hyphens = true;
};
std::vector<std::u32string> wrap_line(std::u32string_view line, const WrapRules& rules);  // textwrap.wrap()

std::string strip_tags(std::string_view html);
std::string url_quoted(std::string_view text, bool in_query);

}  // namespace plait::jinja
