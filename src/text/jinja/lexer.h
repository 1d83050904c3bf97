// The lexer: template source to tokens, with Jinja's control of white space (trim_blocks and lstrip_blocks are on).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plait::jinja {

enum class TokenKind {
  kText,        // Outside of tags.
  kPrintBegin,  // {{
  kPrintEnd,
  kBlockBegin,  // {%
  kBlockEnd,
  kName,
  kString,
  kInteger,
  kFloat,
  kOperator,
  kEnd,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;  // Text, name, operator, or the string's value.
  std::int64_t integer = 0;
  double real = 0;
  int line = 1;
};

// What went wrong, and in which line of the template.
struct Failure {
  std::string message;
  int line = 0;
};

// The token's name in messages, as Jinja has it.
std::string describe(const Token& token);

// All tokens of `source`, the last one kEnd; false after an error. `source` is UTF-8 with \n as its only line break.
bool tokenize(std::string_view source, std::vector<Token>& tokens, Failure& failure);

// \r\n and \r become \n, and one line break at the end goes, as Jinja does it.
std::string normalize_source(std::string_view source);

}  // namespace plait::jinja
