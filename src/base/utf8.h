// UTF-8 by hand: decoding that says what is wrong, encoding, and what to hold back of text that is still arriving.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace plait {

inline constexpr char32_t kReplacementCharacter = 0xFFFD;
inline constexpr std::string_view kReplacementUtf8 = "\xEF\xBF\xBD";

struct DecodedCharacter {
  char32_t value;  // kReplacementCharacter when not valid.
  int length;      // Bytes it takes, at least 1; of an invalid sequence, the longest part that could have begun one.
  bool valid;
  bool unfinished;  // Invalid only because the text ends: more bytes could complete it.
};

// Decodes the character at `text[at]`, which must exist. Overlong forms, surrogates and values beyond U+10FFFF are
// invalid.
inline DecodedCharacter decode_utf8(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(at);
  if (lead < 0x80) return {static_cast<char32_t>(lead), 1, true, false};
  if (lead < 0xC2 || lead > 0xF4) return {kReplacementCharacter, 1, false, false};
  const int length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  char32_t value = lead & (0xFFu >> (length + 1));
  for (int i = 1; i < length; ++i) {
    if (at + static_cast<std::size_t>(i) >= text.size()) return {kReplacementCharacter, i, false, true};
    const unsigned next = byte(at + static_cast<std::size_t>(i));
    unsigned low = 0x80, high = 0xBF;  // The second byte decides over overlong forms, surrogates and the upper end.
    if (i == 1 && lead == 0xE0) low = 0xA0;
    if (i == 1 && lead == 0xED) high = 0x9F;
    if (i == 1 && lead == 0xF0) low = 0x90;
    if (i == 1 && lead == 0xF4) high = 0x8F;
    if (next < low || next > high) return {kReplacementCharacter, i, false, false};
    value = (value << 6) | (next & 0x3Fu);
  }
  return {value, length, true, false};
}

// Appends a code point below 0x110000; surrogates are written as their three bytes.
inline void append_utf8(std::string& out, char32_t value) {
  const auto put = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (value < 0x80) {
    put(value);
  } else if (value < 0x800) {
    put(0xC0 | (value >> 6)), put(0x80 | (value & 0x3F));
  } else if (value < 0x10000) {
    put(0xE0 | (value >> 12)), put(0x80 | ((value >> 6) & 0x3F)), put(0x80 | (value & 0x3F));
  } else {
    put(0xF0 | (value >> 18)), put(0x80 | ((value >> 12) & 0x3F)), put(0x80 | ((value >> 6) & 0x3F));
    put(0x80 | (value & 0x3F));
  }
}

// How many bytes at the end begin a character that is not complete yet: 0 to 3.
inline std::size_t unfinished_tail(std::string_view text) {
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if (byte < 0x80) return 0;
    if (byte < 0xC0) continue;  // A continuation: its lead stands further back.
    const DecodedCharacter last = decode_utf8(text, text.size() - back);
    return last.unfinished && static_cast<std::size_t>(last.length) == back ? back : 0;
  }
  return 0;
}

// The text with every invalid sequence as U+FFFD.
inline std::string replace_invalid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const DecodedCharacter next = decode_utf8(text, at);
    const auto length = static_cast<std::size_t>(next.length);
    out.append(next.valid ? text.substr(at, length) : kReplacementUtf8);
    at += length;
  }
  return out;
}

}  // namespace plait
