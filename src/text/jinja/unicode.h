// Text by code points, as Python's str sees it: white space, classes, case, slicing. Over utf8proc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace plait::jinja {

bool is_valid_utf8(std::string_view text);

// False for surrogates and numbers beyond Unicode.
bool append_code_point(std::string& text, std::uint32_t code);
std::u32string to_code_points(std::string_view text);  // Of valid UTF-8.
std::string to_utf8(std::u32string_view text);
std::int64_t count_code_points(std::string_view text);
std::size_t code_point_bytes(char first);  // Length of the code point that begins with this byte.

bool is_space(char32_t c);
bool is_line_break(char32_t c);
bool is_letter(char32_t c);
bool is_decimal(char32_t c);
bool is_digit_like(char32_t c);  // isdigit()
bool is_numeric(char32_t c);     // isnumeric()
bool is_upper(char32_t c);
bool is_lower(char32_t c);
bool is_title(char32_t c);
bool is_cased(char32_t c);
bool is_printable(char32_t c);
bool is_word(char32_t c);  // \w

// Bytes of the white space or word character at `at`; 0 if there is none.
std::size_t space_length(std::string_view text, std::size_t at);
std::size_t word_length(std::string_view text, std::size_t at);
std::string_view strip_right(std::string_view text);
std::string_view strip_left(std::string_view text);

std::string upper(std::string_view text);
std::string lower(std::string_view text);
std::string casefold(std::string_view text);
std::string capitalize(std::string_view text);
std::string title(std::string_view text);  // The method: a word is a run of cased characters.
std::string swapcase(std::string_view text);

// A number as Python's float() reads it after stripping; false if it is none.
bool parse_float(std::string_view text, double& value);
double parse_double(const std::string& digits);  // Out of range: infinity or zero.

}  // namespace plait::jinja
