// Questions about code points and texts, answered by utf8proc: categories, NFC, lower case.
#include "text/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/utf8.h"

namespace plait {
namespace {

utf8proc_category_t category(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)); }

bool category_between(char32_t c, utf8proc_category_t first, utf8proc_category_t last) {
  const utf8proc_category_t found = category(c);
  return found >= first && found <= last;
}

struct Lenient {
  char32_t value;
  std::size_t length;
  bool valid;
};

// By the lead byte and continuations alone, with no look at overlong forms or surrogates.
Lenient decode_leniently(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(at);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t length = lead < 0xC0 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF8 ? 4 : 0;
  if (length == 0 || at + length > text.size()) return {0, 1, false};
  char32_t value = lead & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return {0, 1, false};
    value = (value << 6) | (byte(at + i) & 0x3Fu);
  }
  return {value, value < 0x110000 ? length : 1, value < 0x110000};
}

bool is_surrogate(char32_t c) { return c >= 0xD800 && c < 0xE000; }

// Appends the full canonical decomposition of `c`.
void decompose(char32_t c, std::vector<utf8proc_int32_t>& out) {
  std::array<utf8proc_int32_t, 32> parts{};
  int last_boundary = 0;
  const auto count = utf8proc_decompose_char(
      static_cast<utf8proc_int32_t>(c), parts.data(), static_cast<utf8proc_ssize_t>(parts.size()),
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE), &last_boundary);
  if (count < 0 || static_cast<std::size_t>(count) > parts.size()) {
    out.push_back(static_cast<utf8proc_int32_t>(c));
  } else {
    out.insert(out.end(), parts.begin(), parts.begin() + count);
  }
}

int combining_class(utf8proc_int32_t c) { return utf8proc_get_property(c)->combining_class; }

// utf8proc's own ordering swaps neighbours, which is quadratic in a long run of marks.
void order_marks(std::vector<utf8proc_int32_t>& text) {
  for (std::size_t at = 0; at < text.size();) {
    if (combining_class(text[at]) == 0) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && combining_class(text[end]) != 0) ++end;
    std::stable_sort(text.begin() + static_cast<std::ptrdiff_t>(at), text.begin() + static_cast<std::ptrdiff_t>(end),
                     [](utf8proc_int32_t a, utf8proc_int32_t b) { return combining_class(a) < combining_class(b); });
    at = end;
  }
}

void append_composed(std::vector<utf8proc_int32_t>& text, std::string& out) {
  if (text.empty()) return;
  order_marks(text);
  const auto length = utf8proc_normalize_utf32(text.data(), static_cast<utf8proc_ssize_t>(text.size()),
                                               static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  for (utf8proc_ssize_t i = 0; i < length; ++i)
    append_utf8(out, static_cast<char32_t>(text[static_cast<std::size_t>(i)]));
  text.clear();
}

}  // namespace

bool is_letter(char32_t c) { return category_between(c, UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LO); }
bool is_mark(char32_t c) { return category_between(c, UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_ME); }
bool is_number(char32_t c) { return category_between(c, UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NO); }
bool is_decimal_digit(char32_t c) { return category(c) == UTF8PROC_CATEGORY_ND; }
bool is_punctuation(char32_t c) { return category_between(c, UTF8PROC_CATEGORY_PC, UTF8PROC_CATEGORY_PO); }
bool is_symbol(char32_t c) { return category_between(c, UTF8PROC_CATEGORY_SM, UTF8PROC_CATEGORY_SO); }
bool is_control(char32_t c) { return category_between(c, UTF8PROC_CATEGORY_CC, UTF8PROC_CATEGORY_CO); }

bool is_white_space(char32_t c) {
  return (c >= 9 && c <= 13) || c == 0x85 || category_between(c, UTF8PROC_CATEGORY_ZS, UTF8PROC_CATEGORY_ZP);
}

bool is_word(char32_t c) {
  return is_letter(c) || is_mark(c) || is_decimal_digit(c) || category(c) == UTF8PROC_CATEGORY_PC;
}

char32_t to_lower(char32_t c) { return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))); }

char32_t base_character(char32_t c) {
  if (c < 0x80) return c;
  std::vector<utf8proc_int32_t> parts;
  decompose(c, parts);
  return static_cast<char32_t>(parts.front());
}

std::string normalize_nfc(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; })) {
    return std::string(text);
  }
  std::string out;
  out.reserve(text.size());
  std::vector<utf8proc_int32_t> pending;
  for (std::size_t at = 0; at < text.size();) {
    const Lenient next = decode_leniently(text, at);
    if (!next.valid || is_surrogate(next.value)) {
      append_composed(pending, out);
      out.append(text.substr(at, next.length));
    } else {
      decompose(next.value, pending);
    }
    at += next.length;
  }
  append_composed(pending, out);
  return out;
}

std::string repair_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Lenient next = decode_leniently(text, at);
    if (next.valid) {
      append_utf8(out, next.value);
    } else {
      out.append(kReplacementUtf8);
    }
    at += next.length;
  }
  return out;
}

}  // namespace plait
