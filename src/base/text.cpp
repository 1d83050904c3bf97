// Text from outside, made safe to show.
#include "base/text.h"

#include <utf8proc.h>

#include <cstdint>

#include <fmt/format.h>

namespace plait {
namespace {

struct Character {
  std::int32_t code = -1;  // -1: not UTF-8.
  int bytes = 1;
};

Character next_character(std::string_view text) {
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const auto length = static_cast<utf8proc_ssize_t>(text.size() < 4 ? text.size() : 4);
  utf8proc_int32_t code = -1;
  const utf8proc_ssize_t used = utf8proc_iterate(bytes, length, &code);
  if (used <= 0) return {};
  return {code, static_cast<int>(used)};
}

// Characters that move the cursor, start a terminal sequence, or reorder what stands beside them.
bool is_control(std::int32_t code) {
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return true;
  if (code == 0x061c || code == 0x200e || code == 0x200f || code == 0x2028 || code == 0x2029) return true;
  return (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

std::string escape(std::int32_t code) {
  if (code == '\n') return "\\n";
  if (code == '\r') return "\\r";
  if (code == '\t') return "\\t";
  return code < 0x80 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{{{:x}}}", code);
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character next = next_character(text);
    if (next.code < 0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    } else if (is_control(next.code)) {
      out += escape(next.code);
    } else {
      out += text.substr(0, static_cast<std::size_t>(next.bytes));
    }
    text.remove_prefix(static_cast<std::size_t>(next.bytes));
  }
  return out;
}

bool is_printable(std::string_view text) {
  while (!text.empty()) {
    const Character next = next_character(text);
    if (next.code < 0 || is_control(next.code)) return false;
    text.remove_prefix(static_cast<std::size_t>(next.bytes));
  }
  return true;
}

}  // namespace plait
