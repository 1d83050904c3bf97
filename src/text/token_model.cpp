// TokenModel: what the kinds of vocabulary share: spellings of bytes and of spaces.
#include "text/token_model.h"

#include <charconv>

namespace plait {

int byte_of_token(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text.back() != '>') return -1;
  int value = -1;
  const char* end = text.data() + 5;
  const auto [stop, error] = std::from_chars(text.data() + 3, end, value, 16);
  return error == std::errc{} && stop == end ? value : -1;
}

std::string escape_spaces(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 16);
  for (const char c : text) {
    if (c == ' ') {
      out += "▁";
    } else {
      out.push_back(c);
    }
  }
  return out;
}

std::string unescape_spaces(std::string_view text) {
  constexpr std::string_view kSpace = "▁";
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = text.find(kSpace, at);
    out.append(text.substr(at, next == std::string_view::npos ? next : next - at));
    if (next == std::string_view::npos) break;
    out.push_back(' ');
    at = next + kSpace.size();
  }
  return out;
}

}  // namespace plait
