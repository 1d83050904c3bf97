// The lexer. Follows the rules of Jinja's: text up to a tag, the tag's tokens, brackets that hide an end tag.
// One class over 400 lines: every rule reads the same cursor.
#include "text/jinja/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "text/jinja/unicode.h"

namespace plait::jinja {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

class Lexer {
 public:
  Lexer(std::string_view source, std::vector<Token>& tokens, Failure& failure)
      : source_(source), tokens_(tokens), failure_(failure) {}

  bool run() {
    while (at_ < source_.size()) {
      if (!text_and_tag()) return false;
    }
    Token end;
    end.line = line_at(source_.size());
    tokens_.push_back(std::move(end));
    return true;
  }

 private:
  bool failed(std::string message, std::size_t at) {
    failure_ = {std::move(message), line_at(at)};
    return false;
  }

  // Lines are asked for in order, so counting goes on from the last place.
  int line_at(std::size_t at) {
    if (at < counted_) counted_ = 0, counted_line_ = 1;
    for (; counted_ < at; ++counted_) counted_line_ += source_[counted_] == '\n';
    return counted_line_;
  }

  Token& add(TokenKind kind, std::size_t at, std::string text = {}) {
    Token token;
    token.kind = kind;
    token.text = std::move(text);
    token.line = line_at(at);
    tokens_.push_back(std::move(token));
    return tokens_.back();
  }

  bool starts(std::string_view what, std::size_t at) const { return source_.substr(at, what.size()) == what; }
  std::size_t skip_space(std::size_t at) const {
    while (at < source_.size()) {
      const std::size_t length = space_length(source_, at);
      if (length == 0) break;
      at += length;
    }
    return at;
  }
  void move_to(std::size_t at) {
    line_starting_ = at > 0 && at <= source_.size() && source_[at - 1] == '\n';
    at_ = at;
  }

  // The text before a tag whose sign is `sign` ('-', '+' or 0), white space taken off as the sign and lstrip_blocks
  // say.
  std::string_view strip_before(std::string_view text, char sign, bool is_print) const {
    if (sign == '-') return strip_right(text);
    if (sign == '+' || is_print) return text;
    const std::size_t newline = text.rfind('\n');
    const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
    if (begin == 0 && !line_starting_) return text;
    if (strip_right(text.substr(begin)).empty()) return text.substr(0, begin);
    return text;
  }

  char sign_at(std::size_t at) const {
    return at < source_.size() && (source_[at] == '-' || source_[at] == '+') ? source_[at] : '\0';
  }

  std::size_t next_tag(std::size_t at) const {
    for (; (at = source_.find('{', at)) != std::string_view::npos; ++at) {
      const char c = at + 1 < source_.size() ? source_[at + 1] : '\0';
      if (c == '{' || c == '%' || c == '#') return at;
    }
    return std::string_view::npos;
  }

  bool text_and_tag() {
    const std::size_t begin = at_;
    const std::size_t tag = next_tag(begin);
    if (tag == std::string_view::npos) {
      add(TokenKind::kText, begin, std::string(source_.substr(begin)));
      at_ = source_.size();
      return true;
    }
    const char sign = sign_at(tag + 2);
    const char type = source_[tag + 1];
    const std::string_view text = strip_before(source_.substr(begin, tag - begin), sign, type == '{');
    if (!text.empty()) add(TokenKind::kText, begin, std::string(text));
    const std::size_t inside = tag + 2 + (sign != '\0');
    if (type == '#') return comment(tag, inside);
    if (type == '%') {
      if (const std::size_t after = raw_begin(inside); after != 0) return raw(tag, after);
    }
    add(type == '{' ? TokenKind::kPrintBegin : TokenKind::kBlockBegin, tag);
    at_ = inside;
    return tag_tokens(type == '{');
  }

  // Behind an end tag at `at`: takes its sign, and the newline that trim_blocks or '-' swallow. 0 if there is none.
  std::size_t end_tag(std::size_t at, std::string_view end, bool plus, bool trim) const {
    if (starts(end, at)) {
      at += end.size();
      return trim && at < source_.size() && source_[at] == '\n' ? at + 1 : at;
    }
    const char sign = sign_at(at);
    if (sign == '\0' || !starts(end, at + 1) || (sign == '+' && !plus)) return 0;
    at += 1 + end.size();
    return sign == '-' ? skip_space(at) : at;
  }

  bool comment(std::size_t tag, std::size_t inside) {
    // {#-} is a comment that has only begun: its sign may close nothing.
    for (std::size_t at = inside; at < source_.size(); ++at) {
      if (source_[at] != '#' && source_[at] != '-' && source_[at] != '+') continue;
      if (const std::size_t after = end_tag(at, "#}", true, true); after != 0) {
        move_to(after);
        return true;
      }
    }
    return failed("missing end of comment tag", tag);
  }

  std::size_t raw_begin(std::size_t at) const {
    at = skip_space(at);
    if (!starts("raw", at)) return 0;
    return end_tag(skip_space(at + 3), "%}", false, false);
  }

  bool raw(std::size_t tag, std::size_t begin) {
    move_to(begin);
    for (std::size_t at = begin; (at = source_.find("{%", at)) != std::string_view::npos; ++at) {
      const char sign = sign_at(at + 2);
      std::size_t inside = skip_space(at + 2 + (sign != '\0'));
      if (!starts("endraw", inside)) continue;
      const std::size_t after = end_tag(skip_space(inside + 6), "%}", true, true);
      if (after == 0) continue;
      const std::string_view text = strip_before(source_.substr(begin, at - begin), sign, false);
      if (!text.empty()) add(TokenKind::kText, begin, std::string(text));
      move_to(after);
      return true;
    }
    return failed("missing end of raw directive", tag);
  }

  bool tag_tokens(bool is_print) {
    std::string open;  // The brackets that must still close.
    while (at_ < source_.size()) {
      if (open.empty()) {
        const std::size_t after = is_print ? end_tag(at_, "}}", false, false) : end_tag(at_, "%}", true, true);
        if (after != 0) {
          add(is_print ? TokenKind::kPrintEnd : TokenKind::kBlockEnd, at_);
          move_to(after);
          return true;
        }
      }
      if (const std::size_t length = space_length(source_, at_); length != 0) {
        at_ += length;
        continue;
      }
      if (!token(open)) return false;
    }
    return true;
  }

  bool token(std::string& open) {
    const char c = source_[at_];
    if (is_digit(c)) return number();
    if (is_word(c) || static_cast<unsigned char>(c) >= 0x80) return name();
    if (c == '\'' || c == '"') return string();
    static constexpr std::string_view kOperators[] = {"//", "**", "==", "!=", ">=", "<=", "+", "-", "/",
                                                      "*",  "%",  "~",  "[",  "]",  "(",  ")", "{", "}",
                                                      ">",  "<",  "=",  ".",  ":",  "|",  ",", ";"};
    for (const std::string_view text : kOperators) {
      if (!starts(text, at_)) continue;
      if (!balance(text, open)) return false;
      add(TokenKind::kOperator, at_, std::string(text));
      at_ += text.size();
      return true;
    }
    return failed(fmt::format("unexpected char '{}' at {}", c, at_), at_);
  }

  bool balance(std::string_view text, std::string& open) {
    if (text == "(") open += ')';
    if (text == "[") open += ']';
    if (text == "{") open += '}';
    if (text != ")" && text != "]" && text != "}") return true;
    if (open.empty()) return failed(fmt::format("unexpected '{}'", text), at_);
    const char expected = open.back();
    open.pop_back();
    if (text[0] == expected) return true;
    return failed(fmt::format("unexpected '{}', expected '{}'", text, expected), at_);
  }

  // Digits with single underscores between them; npos if there is none at `at`.
  std::size_t digits(std::size_t at) const {
    if (at >= source_.size() || !is_digit(source_[at])) return std::string_view::npos;
    while (at < source_.size()) {
      if (is_digit(source_[at])) {
        ++at;
      } else if (source_[at] == '_' && at + 1 < source_.size() && is_digit(source_[at + 1])) {
        at += 2;
      } else {
        break;
      }
    }
    return at;
  }

  // The end of a floating-point number at the cursor, or 0 if it is none.
  std::size_t float_end() const {
    if (at_ > 0 && source_[at_ - 1] == '.') return 0;
    std::size_t end = digits(at_);
    bool is_float = false;
    if (end < source_.size() && source_[end] == '.') {
      if (const std::size_t fraction = digits(end + 1); fraction != std::string_view::npos) {
        end = fraction;
        is_float = true;
      }
    }
    if (end < source_.size() && (source_[end] == 'e' || source_[end] == 'E')) {
      const std::size_t exponent = digits(end + 1 + (sign_at(end + 1) != '\0'));
      if (exponent != std::string_view::npos) return exponent;
    }
    return is_float ? end : 0;
  }

  bool number() {
    if (const std::size_t end = float_end(); end != 0) {
      std::string text(source_.substr(at_, end - at_));
      std::erase(text, '_');
      Token& added = add(TokenKind::kFloat, at_, text);
      added.real = parse_double(text);
      at_ = end;
      return true;
    }
    return integer();
  }

  bool integer() {
    int base = 10;
    std::size_t begin = at_;
    if (source_[at_] == '0' && at_ + 1 < source_.size()) {
      const char c = static_cast<char>(source_[at_ + 1] | 0x20);
      base = c == 'x' ? 16 : c == 'o' ? 8 : c == 'b' ? 2 : 10;
      if (base != 10) begin += 2;
    }
    std::string text;
    std::size_t end = based_digits(begin, base, text);
    if (text.empty()) {  // "0x" and no digits: a zero, then a name.
      base = 10;
      end = based_digits(at_, base, text);
    }
    std::int64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (parsed.ec != std::errc()) return failed(fmt::format("the integer {} is too large", text), at_);
    add(TokenKind::kInteger, at_, text).integer = value;
    at_ = end;
    return true;
  }

  std::size_t based_digits(std::size_t at, int base, std::string& text) const {
    const bool zero = base == 10 && source_[at] == '0';  // A decimal that begins with 0 is all zeros.
    for (bool first = true; at < source_.size(); first = false) {
      std::size_t place = at;
      if (source_[place] == '_' && (!first || base != 10)) ++place;
      if (place >= source_.size()) break;
      const char c = source_[place];
      const int digit = is_digit(c) ? c - '0' : is_word(c) && c != '_' ? (c | 0x20) - 'a' + 10 : 99;
      if (digit >= base || (zero && digit != 0)) break;
      text += c;
      at = place + 1;
    }
    return at;
  }

  bool name() {
    std::size_t end = at_;
    while (end < source_.size() && (is_word(source_[end]) || static_cast<unsigned char>(source_[end]) >= 0x80)) {
      if (is_word(source_[end])) {
        ++end;
        continue;
      }
      const std::size_t length = word_length(source_, end);
      if (length == 0) break;
      end += length;
    }
    if (end == at_) return failed(fmt::format("unexpected char at {}", at_), at_);
    add(TokenKind::kName, at_, std::string(source_.substr(at_, end - at_)));
    at_ = end;
    return true;
  }

  bool string() {
    const char quote = source_[at_];
    std::size_t end = at_ + 1;
    while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
    if (end >= source_.size())
      return failed(fmt::format("unexpected char {} at {}", quote == '\'' ? "\"'\"" : "'\"'", at_), at_);
    std::string text;
    if (!unescape(source_.substr(at_ + 1, end - at_ - 1), text)) return false;
    add(TokenKind::kString, at_, std::move(text));
    at_ = end + 1;
    return true;
  }

  bool unescape(std::string_view raw, std::string& text) {
    for (std::size_t i = 0; i < raw.size(); ++i) {
      if (raw[i] != '\\') {
        text += raw[i];
        continue;
      }
      const char c = raw[++i];
      static constexpr std::string_view kFrom = "\\'\"abfnrtv", kTo = "\\'\"\a\b\f\n\r\t\v";
      if (const std::size_t found = kFrom.find(c); found != std::string_view::npos) {
        text += kTo[found];
      } else if (c == 'x' || c == 'u' || c == 'U') {
        const std::size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : 8;
        std::uint32_t code = 0;
        const char* first = raw.data() + i + 1;
        const char* last = first + std::min(digits, raw.size() - i - 1);
        const auto parsed = std::from_chars(first, last, code, 16);
        if (parsed.ptr != first + digits || parsed.ec != std::errc()) {
          return failed(fmt::format("truncated \\{} escape in a string", c), at_);
        }
        if (!append_code_point(text, code)) return failed("illegal Unicode character in a string", at_);
        i += digits;
      } else if (c >= '0' && c <= '7') {
        std::uint32_t code = 0;
        std::size_t length = 0;
        for (; length < 3 && i + length < raw.size() && raw[i + length] >= '0' && raw[i + length] <= '7'; ++length) {
          code = code * 8 + static_cast<std::uint32_t>(raw[i + length] - '0');
        }
        append_code_point(text, code);
        i += length - 1;
      } else if (c != '\n') {  // An escaped line break is nothing, any other escape stays as it is.
        text += '\\';
        text += c;
      }
    }
    return true;
  }

  std::string_view source_;
  std::vector<Token>& tokens_;
  Failure& failure_;
  std::size_t at_ = 0;
  bool line_starting_ = true;
  std::size_t counted_ = 0;
  int counted_line_ = 1;
};

}  // namespace

std::string describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::kText:
      return "template data / text";
    case TokenKind::kPrintBegin:
      return "begin of print statement";
    case TokenKind::kPrintEnd:
      return "end of print statement";
    case TokenKind::kBlockBegin:
      return "begin of statement block";
    case TokenKind::kBlockEnd:
      return "end of statement block";
    case TokenKind::kString:
      return "string";
    case TokenKind::kInteger:
      return "integer";
    case TokenKind::kFloat:
      return "float";
    case TokenKind::kEnd:
      return "end of template";
    default:
      return token.text;
  }
}

bool tokenize(std::string_view source, std::vector<Token>& tokens, Failure& failure) {
  return Lexer(source, tokens, failure).run();
}

std::string normalize_source(std::string_view source) {
  std::string result;
  result.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      if (i + 1 < source.size() && source[i + 1] == '\n') continue;
      result += '\n';
    } else {
      result += source[i];
    }
  }
  if (!result.empty() && result.back() == '\n') result.pop_back();
  return result;
}

}  // namespace plait::jinja
