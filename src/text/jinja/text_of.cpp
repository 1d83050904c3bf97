// Values as text, the way Python's str() and repr() print them.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "text/jinja/operations.h"
#include "text/jinja/unicode.h"

namespace plait::jinja {
namespace {

class Printer {
 public:
  Printer(Machine& machine, std::string& out) : machine_(machine), out_(out) {}

  void print(const Value& value, int depth) {
    if (machine_.failed()) return;
    if (depth > machine_.limits().depth) {
      machine_.fail_limit("a value is nested too deeply to print");
      return;
    }
    if (out_.size() > machine_.limits().output_bytes) {
      machine_.fail_limit("the text of a value is too large");
      return;
    }
    switch (value.kind()) {
      case Kind::kMissing:
      case Kind::kNone:
        out_ += "None";
        break;
      case Kind::kBool:
        out_ += value.as_bool() ? "True" : "False";
        break;
      case Kind::kInt:
        out_ += std::to_string(value.as_int());
        break;
      case Kind::kFloat:
        out_ += float_text(value.as_double());
        break;
      case Kind::kUndefined:
        out_ += "Undefined";
        break;
      case Kind::kString:
        print_string(value);
        break;
      case Kind::kBytes:
        print_bytes(value.text());
        break;
      case Kind::kList:
        print_items(value.items(), "[", "]", depth);
        break;
      case Kind::kTuple:
        print_items(value.items(), "(", value.items().size() == 1 ? ",)" : ")", depth);
        break;
      case Kind::kDict:
        print_dict(value, depth);
        break;
      case Kind::kView:
        print_view(value, depth);
        break;
      case Kind::kRange:
        print_range(value.as<Range>());
        break;
      case Kind::kNamespace:
        out_ += "<Namespace ";
        print(value.as<Namespace>().attributes, depth + 1);
        out_ += '>';
        break;
      case Kind::kMacro:
        out_ += fmt::format("<Macro {}>", quoted(value.as<Macro>().node->name));
        break;
      default:
        print_opaque(value);
    }
  }

 private:
  // Objects that have no literal.
  void print_opaque(const Value& value) {
    if (value.is(Kind::kLoop)) {
      const Loop& loop = value.as<Loop>();
      out_ += fmt::format("<LoopContext {}/{}>", loop.position + 1, loop.items.size());
    } else if (value.is(Kind::kFunction)) {
      const std::string& name = value.as<Function>().name;
      out_ += name == "self" ? "<TemplateReference None>" : fmt::format("<function {}>", name);
    } else {
      out_ += fmt::format("<{} object>", type_name(value));
    }
  }

  void print_string(const Value& value) {
    if (value.as<String>().safe) {
      out_ += fmt::format("Markup({})", quoted(value.text()));
    } else {
      out_ += quoted(value.text());
    }
  }

  void print_bytes(const std::string& data) {
    const char quote = data.find('\'') != std::string::npos && data.find('"') == std::string::npos ? '"' : '\'';
    out_ += 'b';
    out_ += quote;
    for (const char c : data) {
      const unsigned char byte = static_cast<unsigned char>(c);
      if (c == quote || c == '\\')
        out_ += '\\', out_ += c;
      else if (c == '\n')
        out_ += "\\n";
      else if (c == '\r')
        out_ += "\\r";
      else if (c == '\t')
        out_ += "\\t";
      else if (byte < 0x20 || byte >= 0x7f)
        out_ += fmt::format("\\x{:02x}", byte);
      else
        out_ += c;
    }
    out_ += quote;
  }

  void print_items(const std::vector<Value>& items, std::string_view begin, std::string_view end, int depth) {
    out_ += begin;
    for (std::size_t i = 0; i < items.size() && !machine_.failed(); ++i) {
      if (i > 0) out_ += ", ";
      print(items[i], depth + 1);
    }
    out_ += end;
  }

  void print_dict(const Value& value, int depth) {
    out_ += '{';
    bool first = true;
    for (const auto& [key, item] : value.as<Dict>().entries) {
      if (machine_.failed()) return;
      if (!first) out_ += ", ";
      first = false;
      print(key, depth + 1);
      out_ += ": ";
      print(item, depth + 1);
    }
    out_ += '}';
  }

  void print_view(const Value& value, int depth) {
    std::vector<Value> items;
    iterate(machine_, value, items);
    out_ += type_name(value);
    print_items(items, "([", "])", depth);
  }

  void print_range(const Range& range) {
    out_ += range.step == 1 ? fmt::format("range({}, {})", range.start, range.stop)
                            : fmt::format("range({}, {}, {})", range.start, range.stop, range.step);
  }

  Machine& machine_;
  std::string& out_;
};

}  // namespace

std::string float_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
  std::string sign;
  if (text[0] == '-') sign = '-', text.remove_prefix(1);
  const std::size_t e = text.find('e');
  int exponent = 0;
  const bool plus = text[e + 1] == '+';
  std::from_chars(text.data() + e + 1 + plus, text.data() + text.size(), exponent);
  std::string digits(text.substr(0, 1));
  if (e > 1) digits += text.substr(2, e - 2);
  const int count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {
    std::string mantissa = digits.substr(0, 1);
    if (count > 1) mantissa.append(".").append(digits, 1);
    return fmt::format("{}{}e{}{:02}", sign, mantissa, exponent < 0 ? '-' : '+', std::abs(exponent));
  }
  if (exponent < 0)
    return fmt::format("{}0.{}{}", sign, std::string(static_cast<std::size_t>(-exponent - 1), '0'), digits);
  if (count <= exponent + 1)
    return sign + digits + std::string(static_cast<std::size_t>(exponent + 1 - count), '0') + ".0";
  return sign + digits.substr(0, static_cast<std::size_t>(exponent + 1)) + "." +
         digits.substr(static_cast<std::size_t>(exponent + 1));
}

std::string quoted(std::string_view text) {
  const bool single = text.find('\'') != std::string_view::npos, twice = text.find('"') != std::string_view::npos;
  const char quote = single && !twice ? '"' : '\'';
  std::string out(1, quote);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = std::min(code_point_bytes(text[at]), text.size() - at);
    const std::string_view part = text.substr(at, length);
    at += length;
    const char32_t c = length == 1 ? static_cast<unsigned char>(part[0]) : to_code_points(part)[0];
    if (c == static_cast<char32_t>(quote) || c == '\\')
      out += '\\', out += part;
    else if (c == '\n')
      out += "\\n";
    else if (c == '\r')
      out += "\\r";
    else if (c == '\t')
      out += "\\t";
    else if (is_printable(c))
      out += part;
    else if (c < 0x100)
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    else if (c < 0x10000)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += fmt::format("\\U{:08x}", static_cast<unsigned>(c));
  }
  out += quote;
  return out;
}

std::string repr_of(Machine& machine, const Value& value) {
  std::string out;
  Printer(machine, out).print(value, 0);
  return out;
}

std::string text_of(Machine& machine, const Value& value) {
  if (value.is_string()) return value.text();
  if (value.is_undefined() || value.missing()) return {};
  return repr_of(machine, value);
}

std::string escape_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '\'':
        out += "&#39;";
        break;
      case '"':
        out += "&#34;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace plait::jinja
