// Questions about code points and texts, answered by utf8proc: categories, NFC, lower case.
#pragma once

#include <string>
#include <string_view>

namespace plait {

bool is_letter(char32_t c);         // \p{L}
bool is_mark(char32_t c);           // \p{M}
bool is_number(char32_t c);         // \p{N}
bool is_decimal_digit(char32_t c);  // \p{Nd}
bool is_punctuation(char32_t c);    // \p{P}
bool is_symbol(char32_t c);         // \p{S}
bool is_control(char32_t c);        // Cc, Cf, Cs, Co; not what is unassigned.
bool is_white_space(char32_t c);    // The property White_Space.
bool is_word(char32_t c);           // \w as Oniguruma takes it: letters, marks, decimal digits, connecting punctuation.
char32_t to_lower(char32_t c);

// The first character of the canonical decomposition, taken to its end: an accented letter without its accent.
char32_t base_character(char32_t c);

// Normalization form C. Surrogates, encoded as three bytes each, stay as they are. Time is n log n.
std::string normalize_nfc(std::string_view text);

// The text as byte-level vocabularies take it: each byte that begins or continues nothing becomes U+FFFD; overlong
// forms become the character they spell; surrogates pass as their three bytes.
std::string repair_utf8(std::string_view text);

}  // namespace plait
