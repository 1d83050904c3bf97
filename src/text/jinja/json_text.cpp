// The filter tojson: Python's json.dumps, without escaping for HTML.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "text/jinja/operations.h"
#include "text/jinja/unicode.h"

namespace plait::jinja {
namespace {

struct JsonStyle {
  bool ascii = false;
  bool sorted = false;
  bool indented = false;
  std::string indent;
  std::string item_separator = ", ";
  std::string key_separator = ": ";
};

class JsonWriter {
 public:
  JsonWriter(Machine& machine, const JsonStyle& style, std::string& out) : m_(machine), style_(style), out_(out) {}

  void write(const Value& value, int depth) {
    if (!m_.step() || !m_.has_room(out_.size())) return;
    if (depth > m_.limits().depth) return (void)m_.fail_limit("a value is nested too deeply for JSON");
    switch (value.kind()) {
      case Kind::kNone:
        out_ += "null";
        break;
      case Kind::kBool:
        out_ += value.as_bool() ? "true" : "false";
        break;
      case Kind::kInt:
        out_ += std::to_string(value.as_int());
        break;
      case Kind::kFloat:
        out_ += number(value.as_double());
        break;
      case Kind::kString:
        write_string(value.text());
        break;
      case Kind::kList:
      case Kind::kTuple:
        write_list(value.items(), depth);
        break;
      case Kind::kDict:
        write_dict(value.as<Dict>(), depth);
        break;
      default:
        m_.fail(fmt::format("Object of type {} is not JSON serializable", type_name(value)));
    }
  }

 private:
  static std::string number(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
    return float_text(value);
  }

  void write_string(const std::string& text) {
    out_ += '"';
    for (std::size_t at = 0; at < text.size();) {
      const unsigned char c = static_cast<unsigned char>(text[at]);
      static constexpr std::string_view kFrom = "\"\\\n\r\t\b\f", kTo = "\"\\nrtbf";
      if (const std::size_t found = kFrom.find(text[at]); found != std::string_view::npos) {
        out_ += '\\';
        out_ += kTo[found];
      } else if (c < 0x20 || (style_.ascii && c == 0x7f)) {
        out_ += fmt::format("\\u{:04x}", c);
      } else if (c >= 0x80 && style_.ascii) {
        const std::size_t length = code_point_bytes(text[at]);
        std::uint32_t code = to_code_points(std::string_view(text).substr(at, length))[0];
        if (code >= 0x10000) {
          code -= 0x10000;
          out_ += fmt::format("\\u{:04x}", 0xd800 + (code >> 10));
          code = 0xdc00 + (code & 0x3ff);
        }
        out_ += fmt::format("\\u{:04x}", code);
        at += length - 1;
      } else {
        out_ += text[at];
      }
      ++at;
    }
    out_ += '"';
  }

  void line_break(int depth) {
    if (!style_.indented) return;
    out_ += '\n';
    for (int i = 0; i < depth && m_.has_room(out_.size()); ++i) out_ += style_.indent;
  }

  void write_list(const std::vector<Value>& items, int depth) {
    if (items.empty()) return (void)(out_ += "[]");
    out_ += '[';
    for (std::size_t i = 0; i < items.size() && !m_.failed(); ++i) {
      if (i > 0) out_ += style_.item_separator;
      line_break(depth + 1);
      write(items[i], depth + 1);
    }
    line_break(depth);
    out_ += ']';
  }

  bool key_text(const Value& key, std::string& text) {
    switch (key.kind()) {
      case Kind::kString:
        text = key.text();
        return true;
      case Kind::kNone:
        text = "null";
        return true;
      case Kind::kBool:
        text = key.as_bool() ? "true" : "false";
        return true;
      case Kind::kInt:
        text = std::to_string(key.as_int());
        return true;
      case Kind::kFloat:
        text = number(key.as_double());
        return true;
      default:
        m_.fail(fmt::format("keys must be str, int, float, bool or None, not {}", type_name(key)));
        return false;
    }
  }

  void write_dict(const Dict& dict, int depth) {
    if (dict.entries.empty()) return (void)(out_ += "{}");
    std::vector<std::pair<Value, Value>> entries = dict.entries;
    if (style_.sorted) {
      std::stable_sort(entries.begin(), entries.end(), [this](const auto& a, const auto& b) {
        return !m_.failed() && compare(m_, a.first, b.first) == -1;
      });
    }
    out_ += '{';
    for (std::size_t i = 0; i < entries.size() && !m_.failed(); ++i) {
      if (i > 0) out_ += style_.item_separator;
      line_break(depth + 1);
      std::string key;
      if (!key_text(entries[i].first, key)) return;
      write_string(key);
      out_ += style_.key_separator;
      write(entries[i].second, depth + 1);
    }
    line_break(depth);
    out_ += '}';
  }

  Machine& m_;
  const JsonStyle& style_;
  std::string& out_;
};

}  // namespace

Value to_json(Machine& machine, const Value& value, const Arguments& arguments) {
  const auto bound = bind(machine, "tojson", arguments, {"ensure_ascii", "indent", "separators", "sort_keys"});
  if (machine.failed()) return {};
  JsonStyle style;
  style.ascii = truth(bound[0]);
  style.sorted = truth(bound[3]);
  if (!bound[1].missing() && !bound[1].is_none()) {
    style.indented = true;
    style.item_separator = ',';
    if (bound[1].is_string()) {
      style.indent = bound[1].text();
    } else {
      const auto width = integer_argument(machine, bound[1], "tojson: indent");
      if (!width || !machine.has_room(static_cast<std::size_t>(std::max<std::int64_t>(*width, 0)))) return {};
      style.indent.assign(static_cast<std::size_t>(std::max<std::int64_t>(*width, 0)), ' ');
    }
  }
  if (!bound[2].missing() && !bound[2].is_none()) {
    std::vector<Value> parts;
    if (!iterate(machine, bound[2], parts)) return {};
    if (parts.size() != 2 || !parts[0].is_string() || !parts[1].is_string())
      return machine.fail("tojson: separators must be two strings");
    style.item_separator = parts[0].text();
    style.key_separator = parts[1].text();
  }
  std::string out;
  JsonWriter(machine, style, out).write(value, 0);
  return machine.failed() ? Value() : machine.string(std::move(out));
}

}  // namespace plait::jinja
