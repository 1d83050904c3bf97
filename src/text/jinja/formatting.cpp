// String formatting: '%s' % value and '{}'.format(value).
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "text/jinja/format_spec.h"
#include "text/jinja/operations.h"
#include "text/jinja/unicode.h"

namespace plait::jinja {
namespace {

// --- % ---

class PercentFormatter {
 public:
  PercentFormatter(Machine& machine, const std::string& format, const Value& arguments)
      : m_(machine), format_(format), arguments_(arguments) {}

  Value run() {
    while (at_ < format_.size() && !m_.failed()) {
      const std::size_t percent = std::min(format_.find('%', at_), format_.size());
      out_.append(format_, at_, percent - at_);
      at_ = percent;
      if (at_ < format_.size()) field();
      if (!m_.has_room(out_.size())) return {};
    }
    const bool is_tuple = arguments_.is(Kind::kTuple);
    const bool single_left = !is_tuple && next_ == 0 && !mapped_ && !arguments_.is_dict() &&
                             !arguments_.is(Kind::kList) && !arguments_.is(Kind::kRange) && !arguments_.is_undefined();
    if ((is_tuple && next_ < arguments_.items().size()) || single_left) {
      return m_.fail("not all arguments converted during string formatting");
    }
    return m_.failed() ? Value() : m_.string(std::move(out_));
  }

 private:
  char peek() const { return at_ < format_.size() ? format_[at_] : '\0'; }

  Value next_argument() {
    if (arguments_.is(Kind::kTuple) ? next_ >= arguments_.items().size() : next_ > 0) {
      return m_.fail("not enough arguments for format string");
    }
    ++next_;
    return arguments_.is(Kind::kTuple) ? arguments_.items()[next_ - 1] : arguments_;
  }

  std::int64_t number() {
    if (peek() == '*') {
      ++at_;
      const auto value = integer_argument(m_, next_argument(), "* in a format");
      return value.value_or(0);
    }
    std::int64_t value = 0;
    for (; peek() >= '0' && peek() <= '9'; ++at_) {
      if (value > 1'000'000'000'000) return m_.fail_limit("a formatted field is too wide"), 0;
      value = value * 10 + (peek() - '0');
    }
    return value;
  }

  void field() {
    ++at_;
    Value value;
    if (peek() == '(') {
      const std::size_t end = format_.find(')', at_);
      if (end == std::string::npos) return (void)m_.fail("incomplete format key");
      if (!arguments_.is_dict()) return (void)m_.fail("format requires a mapping");
      const std::string key = format_.substr(at_ + 1, end - at_ - 1);
      const Value* found = arguments_.as<Dict>().find(key);
      if (!found) return (void)m_.fail(quoted(key));
      value = *found;
      mapped_ = true;
      at_ = end + 1;
    }
    FormatSpec spec;
    bool zero = false;
    for (; peek() && std::string_view("-+ #0").find(peek()) != std::string_view::npos; ++at_) {
      if (peek() == '-') spec.align = '<';
      if (peek() == '+') spec.sign = '+';
      if (peek() == ' ' && spec.sign != '+') spec.sign = ' ';
      if (peek() == '#') spec.alternate = true;
      if (peek() == '0') zero = true;
    }
    spec.width = number();
    if (spec.width < 0) spec.align = '<', spec.width = -spec.width;
    if (peek() == '.') {
      ++at_;
      spec.precision = std::max<std::int64_t>(number(), 0);
    }
    while (peek() == 'h' || peek() == 'l' || peek() == 'L') ++at_;
    if (at_ >= format_.size()) return (void)m_.fail("incomplete format");
    const char type = format_[at_++];
    if (type == '%') return (void)(out_ += '%');
    if (value.missing()) value = next_argument();
    if (!m_.failed()) convert(type, value, spec, zero);
  }

  void convert(char type, const Value& value, FormatSpec spec, bool zero) {
    if (!spec.align) spec.align = '>';
    if (type == 's' || type == 'r' || type == 'a') {
      spec.sign = '-';
      out_ += lay_out_text(m_, type == 's' ? text_of(m_, value) : repr_of(m_, value), spec);
      return;
    }
    if (type == 'c') {
      if (value.is_string() && count_code_points(value.text()) == 1)
        return (void)(out_ += lay_out_text(m_, value.text(), spec));
      if (!value.is_integral()) return (void)m_.fail("%c requires int or char");
      spec.type = 'c';
      return (void)(out_ += lay_out_integer(m_, value.as_int(), spec));
    }
    if (zero && spec.align == '>') spec.fill = U"0", spec.align = '=';
    const bool integral = std::string_view("diuxXo").find(type) != std::string_view::npos;
    if (!integral && std::string_view("eEfFgG").find(type) == std::string_view::npos) {
      return (void)m_.fail(fmt::format("unsupported format character '{}'", type));
    }
    if (!value.is_number()) {
      if (!check_defined(m_, value)) return;
      return (void)m_.fail(fmt::format("%{} format: a real number is required, not {}", type, type_name(value)));
    }
    if (!integral) {
      spec.type = type;
      return (void)(out_ += lay_out_float(m_, value.as_double(), spec));
    }
    spec.type = type == 'i' || type == 'u' ? 'd' : type;
    if (value.is(Kind::kFloat) &&
        (type == 'x' || type == 'X' || type == 'o' || !(std::abs(value.as_double()) < 9.2e18))) {
      return (void)m_.fail(fmt::format("%{} format: an integer is required, not float", type));
    }
    out_ += lay_out_integer(m_, value.is(Kind::kFloat) ? static_cast<std::int64_t>(value.as_double()) : value.as_int(),
                            spec);
  }

  Machine& m_;
  const std::string& format_;
  const Value& arguments_;
  std::string out_;
  std::size_t at_ = 0;
  std::size_t next_ = 0;
  bool mapped_ = false;
};

// --- {} ---

bool parse_spec(Machine& m, std::string_view text, FormatSpec& spec) {
  std::u32string points = to_code_points(text);
  const auto is_align = [](char32_t c) { return c == '<' || c == '>' || c == '^' || c == '='; };
  std::size_t at = 0;
  if (points.size() >= 2 && is_align(points[1])) {
    spec.fill = points.substr(0, 1);
    spec.align = static_cast<char>(points[1]);
    at = 2;
  } else if (!points.empty() && is_align(points[0])) {
    spec.align = static_cast<char>(points[0]);
    at = 1;
  }
  const auto peek = [&] { return at < points.size() ? points[at] : U'\0'; };
  if (peek() == '+' || peek() == '-' || peek() == ' ') spec.sign = static_cast<char>(points[at++]);
  if (peek() == '#') spec.alternate = true, ++at;
  if (peek() == '0') {
    if (!spec.align) spec.fill = U"0", spec.align = '=';
    ++at;
  }
  const auto number = [&] {
    std::int64_t value = 0;
    for (; peek() >= '0' && peek() <= '9'; ++at)
      value = std::min<std::int64_t>(value * 10 + static_cast<std::int64_t>(peek() - '0'), std::int64_t{1} << 50);
    return value;
  };
  spec.width = number();
  if (peek() == ',' || peek() == '_') spec.grouping = static_cast<char>(points[at++]);
  if (peek() == '.') {
    ++at;
    if (peek() < '0' || peek() > '9') return m.fail("format specifier missing precision"), false;
    spec.precision = number();
  }
  if (at < points.size() && points[at] < 0x80) spec.type = static_cast<char>(points[at++]);
  if (at < points.size()) return m.fail(fmt::format("invalid format specifier '{}'", text)), false;
  return true;
}

std::string formatted(Machine& m, const Value& value, std::string_view text) {
  if (text.empty()) return text_of(m, value);
  FormatSpec spec;
  if (!value.is_string() && !value.is_number()) {
    m.fail(fmt::format("unsupported format string passed to {}.__format__", type_name(value)));
    return {};
  }
  if (!parse_spec(m, text, spec)) return {};
  if (value.is_string()) {
    if (spec.align == '=' && spec.fill == U"0") spec.align = '<';
    return lay_out_text(m, value.text(), spec);
  }
  if (value.is(Kind::kFloat)) return lay_out_float(m, value.as_double(), spec);
  return lay_out_integer(m, value.as_int(), spec);
}

class BraceFormatter {
 public:
  BraceFormatter(Machine& machine, const std::vector<Value>& positional, const Value& named)
      : m_(machine), positional_(positional), named_(named) {}

  std::string run(std::string_view format, int depth) {
    std::string out;
    for (std::size_t at = 0; at < format.size() && !m_.failed();) {
      const char c = format[at];
      const bool doubled = at + 1 < format.size() && format[at + 1] == c;
      if (c != '{' && c != '}') {
        out += format[at++];
      } else if (doubled) {
        out += c;
        at += 2;
      } else if (c == '}') {
        m_.fail("single '}' encountered in format string");
      } else {
        const std::size_t end = field_end(format, at + 1);
        if (end == std::string_view::npos) {
          m_.fail("expected '}' before end of string");
          break;
        }
        out += field(format.substr(at + 1, end - at - 1), depth);
        at = end + 1;
      }
      if (!m_.has_room(out.size())) break;
    }
    return out;
  }

 private:
  static std::size_t field_end(std::string_view format, std::size_t at) {
    for (int open = 1; at < format.size(); ++at) {
      open += format[at] == '{' ? 1 : format[at] == '}' ? -1 : 0;
      if (open == 0) return at;
    }
    return std::string_view::npos;
  }

  std::string field(std::string_view text, int depth) {
    const std::size_t brackets = text.find('[') < text.find_first_of("!:") ? text.find(']') : 0;
    const std::size_t name_end =
        std::min(text.find_first_of("!:", brackets == std::string_view::npos ? 0 : brackets), text.size());
    Value value = resolve(text.substr(0, name_end));
    std::string_view rest = text.substr(name_end);
    if (m_.failed()) return {};
    if (!rest.empty() && rest[0] == '!') {
      const char conversion = rest.size() > 1 ? rest[1] : '\0';
      if ((conversion != 'r' && conversion != 's' && conversion != 'a') || (rest.size() > 2 && rest[2] != ':')) {
        m_.fail("unknown conversion in a format string");
        return {};
      }
      value = m_.string(conversion == 's' ? text_of(m_, value) : repr_of(m_, value));
      rest.remove_prefix(2);
    }
    if (!rest.empty()) rest.remove_prefix(1);
    std::string spec(rest);
    if (spec.find_first_of("{}") != std::string::npos) {
      if (depth >= 1) return m_.fail("max string recursion exceeded"), std::string();
      spec = run(rest, depth + 1);
    }
    return m_.failed() ? std::string() : formatted(m_, value, spec);
  }

  Value resolve(std::string_view name) {
    const std::size_t head_end = std::min(name.find_first_of(".["), name.size());
    Value value = first(name.substr(0, head_end));
    std::string_view rest = name.substr(head_end);
    while (!rest.empty() && !m_.failed()) {
      if (rest[0] == '.') {
        const std::size_t end = std::min(rest.find_first_of(".[", 1), rest.size());
        value = attribute(m_, value, rest.substr(1, end - 1));
        rest.remove_prefix(end);
      } else {
        const std::size_t end = rest.find(']');
        if (rest[0] != '[' || end == std::string_view::npos) return m_.fail("missing ']' in format string");
        std::int64_t index = 0;
        const std::string_view key = rest.substr(1, end - 1);
        value = item(m_, value, is_number(key, index) ? Value::integer(index) : m_.string(std::string(key)));
        rest.remove_prefix(end + 1);
      }
    }
    return value;
  }

  static bool is_number(std::string_view text, std::int64_t& value) {
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    return !text.empty() && text[0] != '-' && parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  }

  Value first(std::string_view name) {
    std::int64_t index = 0;
    const bool automatic = name.empty();
    if (automatic || is_number(name, index)) {
      if (automatic ? numbering_ == 'm' : numbering_ == 'a') {
        return m_.fail("cannot switch between manual and automatic field numbering");
      }
      numbering_ = automatic ? 'a' : 'm';
      if (automatic) index = next_++;
      if (index < 0 || index >= static_cast<std::int64_t>(positional_.size())) {
        return m_.fail(fmt::format("replacement index {} out of range for positional args tuple", index));
      }
      return positional_[static_cast<std::size_t>(index)];
    }
    const Value* found = named_.as<Dict>().find(name);
    return found ? *found : m_.fail(quoted(name));
  }

  Machine& m_;
  const std::vector<Value>& positional_;
  const Value named_;
  std::int64_t next_ = 0;
  char numbering_ = 0;  // 'a'utomatic or 'm'anual, once one was used.
};

}  // namespace

Value format_percent(Machine& machine, const std::string& format, const Value& arguments) {
  return PercentFormatter(machine, format, arguments).run();
}

Value format_braces(Machine& machine, const std::string& format, const Arguments& arguments) {
  Value named = machine.dict();
  for (const auto& [name, value] : arguments.named) named.as<Dict>().set(machine.string(name), value);
  std::string text = BraceFormatter(machine, arguments.positional, named).run(format, 0);
  return machine.failed() ? Value() : machine.string(std::move(text));
}

Value format_braces_map(Machine& machine, const std::string& format, const Arguments& arguments) {
  if (arguments.positional.size() != 1 || !arguments.named.empty() || !arguments.positional[0].is_dict()) {
    return machine.fail("format_map() takes exactly one argument, a mapping");
  }
  const std::vector<Value> none;
  std::string text = BraceFormatter(machine, none, arguments.positional[0]).run(format, 0);
  return machine.failed() ? Value() : machine.string(std::move(text));
}

}  // namespace plait::jinja
