// Unicode properties and case by utf8proc, with the rules of Python's str on top.
#include "text/jinja/unicode.h"

#include <utf8proc.h>

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "text/jinja/special_case.h"

namespace plait::jinja {
namespace {

utf8proc_category_t category(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)); }

// Decodes the code point at `at` and moves behind it. Text is known to be valid.
char32_t decode(std::string_view text, std::size_t& at) {
  utf8proc_int32_t code = 0;
  const auto bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const utf8proc_ssize_t used = utf8proc_iterate(bytes + at, static_cast<utf8proc_ssize_t>(text.size() - at), &code);
  at += used > 0 ? static_cast<std::size_t>(used) : 1;
  return used > 0 ? static_cast<char32_t>(code) : U'\ufffd';
}

}  // namespace

bool is_valid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    utf8proc_int32_t code = 0;
    const auto bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
    const utf8proc_ssize_t used = utf8proc_iterate(bytes + at, static_cast<utf8proc_ssize_t>(text.size() - at), &code);
    if (used <= 0) return false;
    at += static_cast<std::size_t>(used);
  }
  return true;
}

bool append_code_point(std::string& text, std::uint32_t code) {
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
  utf8proc_uint8_t bytes[4];
  const utf8proc_ssize_t length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code), bytes);
  text.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length));
  return true;
}

std::u32string to_code_points(std::string_view text) {
  std::u32string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) result += decode(text, at);
  return result;
}

std::string to_utf8(std::u32string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char32_t c : text) append_code_point(result, c);
  return result;
}

std::int64_t count_code_points(std::string_view text) {
  std::int64_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return count;
}

std::size_t code_point_bytes(char first) {
  const unsigned char c = static_cast<unsigned char>(first);
  return c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

bool is_space(char32_t c) {
  if (c <= 0x20) return c == 0x20 || (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x1f);
  if (c < 0x80) return false;
  return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
         c == 0x202f || c == 0x205f || c == 0x3000;
}

bool is_line_break(char32_t c) {
  return (c >= 10 && c <= 13) || (c >= 0x1c && c <= 0x1e) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

bool is_letter(char32_t c) {
  const utf8proc_category_t type = category(c);
  return type >= UTF8PROC_CATEGORY_LU && type <= UTF8PROC_CATEGORY_LO;
}

bool is_decimal(char32_t c) { return category(c) == UTF8PROC_CATEGORY_ND; }

bool is_digit_like(char32_t c) {
  if (is_decimal(c)) return true;
  return c == 0xb2 || c == 0xb3 || c == 0xb9 || c == 0x2070 || (c >= 0x2074 && c <= 0x2079) ||
         (c >= 0x2080 && c <= 0x2089) || (c >= 0x2460 && c <= 0x2468) || (c >= 0x2474 && c <= 0x247c) ||
         (c >= 0x2488 && c <= 0x2490) || (c >= 0x24f5 && c <= 0x24fd) || c == 0x24ea || c == 0x24ff ||
         (c >= 0x2776 && c <= 0x277e) || (c >= 0x2780 && c <= 0x2788) || (c >= 0x278a && c <= 0x2792);
}

bool is_numeric(char32_t c) {
  const utf8proc_category_t type = category(c);
  if (type == UTF8PROC_CATEGORY_ND || type == UTF8PROC_CATEGORY_NL || type == UTF8PROC_CATEGORY_NO) return true;
  static constexpr std::u32string_view kIdeographs = U"一二三四五六七八九十百千万億兆零〇壱弐参拾";
  return kIdeographs.find(c) != std::u32string_view::npos;
}

bool is_upper(char32_t c) { return utf8proc_isupper(static_cast<utf8proc_int32_t>(c)) != 0; }
bool is_lower(char32_t c) { return utf8proc_islower(static_cast<utf8proc_int32_t>(c)) != 0; }
bool is_title(char32_t c) { return category(c) == UTF8PROC_CATEGORY_LT; }
bool is_cased(char32_t c) { return is_upper(c) || is_lower(c) || is_title(c); }

bool is_printable(char32_t c) {
  if (c == ' ') return true;
  if (c < 0x7f) return c > ' ';
  switch (category(c)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS:
      return false;
    default:
      return true;
  }
}

bool is_word(char32_t c) { return c == '_' || is_letter(c) || is_numeric(c); }

std::size_t space_length(std::string_view text, std::size_t at) {
  std::size_t end = at;
  return is_space(decode(text, end)) ? end - at : 0;
}

std::size_t word_length(std::string_view text, std::size_t at) {
  std::size_t end = at;
  return is_word(decode(text, end)) ? end - at : 0;
}

std::string_view strip_right(std::string_view text) {
  while (!text.empty()) {
    std::size_t at = text.size() - 1;
    while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) --at;
    if (space_length(text, at) == 0) break;
    text = text.substr(0, at);
  }
  return text;
}

std::string_view strip_left(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = space_length(text, 0);
    if (length == 0) break;
    text.remove_prefix(length);
  }
  return text;
}

namespace {

void append_upper(std::u32string& out, char32_t c) {
  if (const SpecialCase* special = special_case(c)) {
    out += special->upper;
  } else {
    out += static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c)));
  }
}

void append_title(std::u32string& out, char32_t c) {
  if (const SpecialCase* special = special_case(c)) {
    out += special->title;
  } else {
    out += static_cast<char32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(c)));
  }
}

bool is_case_ignorable(char32_t c) {
  switch (category(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      return c == '\'' || c == '.' || c == ':' || c == 0xb7 || c == 0x2018 || c == 0x2019 || c == 0x2024;
  }
}

// A sigma behind a cased character and before none is the final one.
bool is_final_sigma(std::u32string_view text, std::size_t at) {
  std::size_t before = at;
  while (before > 0 && is_case_ignorable(text[before - 1])) --before;
  if (before == 0 || !is_cased(text[before - 1])) return false;
  std::size_t after = at + 1;
  while (after < text.size() && is_case_ignorable(text[after])) ++after;
  return after == text.size() || !is_cased(text[after]);
}

void append_lower(std::u32string& out, std::u32string_view text, std::size_t at) {
  const char32_t c = text[at];
  if (c == 0x130) {
    out += U"i\u0307";
  } else if (c == 0x3a3) {
    out += is_final_sigma(text, at) ? U'\u03c2' : U'\u03c3';
  } else {
    out += static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
  }
}

}  // namespace

std::string upper(std::string_view text) {
  std::u32string out;
  for (const char32_t c : to_code_points(text)) append_upper(out, c);
  return to_utf8(out);
}

std::string lower(std::string_view text) {
  const std::u32string points = to_code_points(text);
  std::u32string out;
  for (std::size_t i = 0; i < points.size(); ++i) append_lower(out, points, i);
  return to_utf8(out);
}

std::string casefold(std::string_view text) {
  std::u32string out;
  for (const char32_t c : to_code_points(text)) {
    utf8proc_int32_t folded[8];
    int last = 0;
    const utf8proc_ssize_t count =
        utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), folded, 8, UTF8PROC_CASEFOLD, &last);
    for (utf8proc_ssize_t i = 0; i < count && i < 8; ++i) out += static_cast<char32_t>(folded[i]);
  }
  return to_utf8(out);
}

std::string capitalize(std::string_view text) {
  const std::u32string points = to_code_points(text);
  std::u32string out;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i == 0) {
      append_title(out, points[0]);
    } else {
      append_lower(out, points, i);
    }
  }
  return to_utf8(out);
}

std::string title(std::string_view text) {
  const std::u32string points = to_code_points(text);
  std::u32string out;
  bool inside = false;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (inside) {
      append_lower(out, points, i);
    } else {
      append_title(out, points[i]);
    }
    inside = is_cased(points[i]);
  }
  return to_utf8(out);
}

std::string swapcase(std::string_view text) {
  const std::u32string points = to_code_points(text);
  std::u32string out;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (is_upper(points[i])) {
      append_lower(out, points, i);
    } else if (is_lower(points[i])) {
      append_upper(out, points[i]);
    } else {
      out += points[i];
    }
  }
  return to_utf8(out);
}

double parse_double(const std::string& digits) { return std::strtod(digits.c_str(), nullptr); }

bool parse_float(std::string_view text, double& value) {
  std::string digits(strip_left(strip_right(text)));
  std::string plain;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (digits[i] == '_') {
      const auto digit = [&](std::size_t at) { return at < digits.size() && digits[at] >= '0' && digits[at] <= '9'; };
      if (i == 0 || !digit(i - 1) || !digit(i + 1)) return false;
      continue;
    }
    plain += static_cast<char>(digits[i] >= 'A' && digits[i] <= 'Z' ? digits[i] | 0x20 : digits[i]);
  }
  std::string_view body = plain;
  if (!body.empty() && (body[0] == '+' || body[0] == '-')) body.remove_prefix(1);
  const bool is_word = body == "inf" || body == "infinity" || body == "nan";
  if (body.empty() || (!is_word && body.find_first_not_of("0123456789.e+-") != std::string_view::npos)) return false;
  char* end = nullptr;
  value = std::strtod(plain.c_str(), &end);
  return end == plain.c_str() + plain.size();
}

}  // namespace plait::jinja
