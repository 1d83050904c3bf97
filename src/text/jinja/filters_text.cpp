// Filters that make text.
#include <fmt/format.h>

#include <algorithm>

#include "text/jinja/filters.h"
#include "text/jinja/json_value.h"
#include "text/jinja/string_tools.h"
#include "text/jinja/unicode.h"

namespace plait::jinja {
namespace {

using Args = const Arguments&;

bool is_safe(const Value& value) { return value.is_string() && value.as<String>().safe; }

Value upper_filter(Machine& m, const Value& s, Args) { return m.string(upper(text_of(m, s)), is_safe(s)); }
Value lower_filter(Machine& m, const Value& s, Args) { return m.string(lower(text_of(m, s)), is_safe(s)); }
Value capitalize_filter(Machine& m, const Value& s, Args) { return m.string(capitalize(text_of(m, s)), is_safe(s)); }
Value string_filter(Machine& m, const Value& s, Args) { return s.is_string() ? s : m.string(text_of(m, s)); }
Value safe_filter(Machine& m, const Value& s, Args) { return m.string(text_of(m, s), true); }
Value force_escape_filter(Machine& m, const Value& s, Args) { return m.string(escape_html(text_of(m, s)), true); }
Value escape_filter(Machine& m, const Value& s, Args) {
  return is_safe(s) ? s : m.string(escape_html(text_of(m, s)), true);
}
Value pprint_filter(Machine& m, const Value& s, Args) { return m.string(repr_of(m, s)); }

Value trim_filter(Machine& m, const Value& s, Args arguments) {
  const auto bound = bind(m, "trim", arguments, {"chars"});
  Arguments strip;
  if (!bound[0].missing()) strip.positional.push_back(bound[0]);
  return m.failed() ? Value() : call_string_method(m, m.string(text_of(m, s), is_safe(s)), "strip", strip);
}

Value center_filter(Machine& m, const Value& s, Args arguments) {
  const auto bound = bind(m, "center", arguments, {"width"});
  Arguments width;
  width.positional.push_back(bound[0].missing() ? Value::integer(80) : bound[0]);
  return m.failed() ? Value() : call_string_method(m, m.string(text_of(m, s)), "center", width);
}

Value replace_filter(Machine& m, const Value& s, Args arguments) {
  const auto bound = bind(m, "replace", arguments, {"old", "new", "count"}, 2);
  if (m.failed()) return {};
  Arguments replace;
  replace.positional = {m.string(text_of(m, bound[0])), m.string(text_of(m, bound[1]))};
  if (!bound[2].missing() && !bound[2].is_none()) replace.positional.push_back(bound[2]);
  return call_string_method(m, m.string(text_of(m, s)), "replace", replace);
}

// A word begins the text or follows one of "-({[<" or white space; its first letter alone is upper case.
Value title_filter(Machine& m, const Value& s, Args) {
  std::string out, word;
  const auto flush = [&] {
    const std::u32string points = to_code_points(word);
    if (!points.empty()) out += upper(to_utf8(points.substr(0, 1))) + lower(to_utf8(points.substr(1)));
    word.clear();
  };
  for (const char32_t c : to_code_points(text_of(m, s))) {
    if (is_space(c) || c == '-' || c == '(' || c == '{' || c == '[' || c == '<') {
      flush();
      append_code_point(out, c);
    } else {
      append_code_point(word, c);
    }
  }
  flush();
  return m.string(std::move(out));
}

Value format_filter(Machine& m, const Value& s, Args arguments) {
  if (!arguments.positional.empty() && !arguments.named.empty()) {
    return m.fail("format: can't handle positional and keyword arguments at the same time");
  }
  Value values;
  if (arguments.named.empty()) {
    values = m.tuple(arguments.positional);
  } else {
    values = m.dict();
    for (const auto& [name, value] : arguments.named) values.as<Dict>().set(m.string(name), value);
  }
  return format_percent(m, text_of(m, s), values);
}

Value indent_filter(Machine& m, const Value& s, Args arguments) {
  const auto bound = bind(m, "indent", arguments, {"width", "first", "blank"});
  if (m.failed() || !check_defined(m, s)) return {};
  if (!s.is_string()) return m.fail(fmt::format("unsupported operand type(s) for +=: '{}' and 'str'", type_name(s)));
  std::string indention(4, ' ');
  if (bound[0].is_string()) {
    indention = bound[0].text();
  } else if (!bound[0].missing()) {
    const auto width = integer_argument(m, bound[0], "indent: width");
    if (!width || !m.has_room(static_cast<std::size_t>(std::max<std::int64_t>(*width, 0)))) return {};
    indention.assign(static_cast<std::size_t>(std::max<std::int64_t>(*width, 0)), ' ');
  }
  const std::vector<std::string> lines = split_lines(s.text() + "\n", false);
  if (!m.has_room(s.text().size() + lines.size() * (indention.size() + 1))) return {};
  const bool blank = truth(bound[2]);
  std::string out = truth(bound[1]) ? indention : std::string();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out += '\n';
    if (i > 0 && (blank || !lines[i].empty())) out += indention;
    out += lines[i];
  }
  return m.string(std::move(out), is_safe(s));
}

Value truncate_filter(Machine& m, const Value& s, Args arguments) {
  const auto bound = bind(m, "truncate", arguments, {"length", "killwords", "end", "leeway"});
  if (m.failed()) return {};
  const std::int64_t length = bound[0].is_integral() ? bound[0].as_int() : 255;
  const std::u32string end = bound[2].is_string() ? to_code_points(bound[2].text()) : U"...";
  const std::int64_t leeway = bound[3].is_integral() ? bound[3].as_int() : 5;
  if (length < static_cast<std::int64_t>(end.size()))
    return m.fail(fmt::format("truncate: expected length >= {}, got {}", end.size(), length));
  if (leeway < 0) return m.fail(fmt::format("truncate: expected leeway >= 0, got {}", leeway));
  const std::int64_t count = length_of(m, s);
  if (m.failed() || count <= length || count - length <= leeway) return s;
  if (!string_argument(m, s, "truncate: value")) return {};
  const std::u32string text = to_code_points(s.text());
  std::u32string kept = text.substr(0, static_cast<std::size_t>(length) - end.size());
  if (!truth(bound[1])) kept = kept.substr(0, kept.rfind(U' '));
  return m.string(to_utf8(kept + end));
}

Value wordcount_filter(Machine& m, const Value& s, Args) {
  std::int64_t count = 0;
  bool inside = false;
  for (const char32_t c : to_code_points(text_of(m, s))) {
    const bool word = is_word(c);
    count += word && !inside;
    inside = word;
  }
  return Value::integer(count);
}

Value wordwrap_filter(Machine& m, const Value& s, Args arguments) {
  const auto bound = bind(m, "wordwrap", arguments, {"width", "break_long_words", "wrapstring", "break_on_hyphens"});
  if (m.failed() || !string_argument(m, s, "wordwrap: value")) return {};
  const std::int64_t width = bound[0].is_integral() ? bound[0].as_int() : 79;
  if (width <= 0) return m.fail(fmt::format("wordwrap: invalid width {} (must be > 0)", width));
  WrapRules rules;
  rules.width = static_cast<std::size_t>(width);
  rules.break_long_words = bound[1].missing() || truth(bound[1]);
  rules.break_on_hyphens = bound[3].missing() || truth(bound[3]);
  if (!m.has_room(s.text().size() * sizeof(std::u32string))) return {};  // Each character may be a piece of its own.
  const std::string joint = bound[2].is_string() ? bound[2].text() : "\n";
  std::string out;
  bool first = true;
  for (const std::string& line : split_lines(s.text(), false)) {
    if (!first) out += joint;
    first = false;
    bool begins = true;
    for (const std::u32string& piece : wrap_line(to_code_points(line), rules)) {
      if (!begins) out += joint;
      begins = false;
      out += to_utf8(piece);
      if (!m.has_room(out.size())) return {};
    }
  }
  return m.string(std::move(out));
}

Value striptags_filter(Machine& m, const Value& s, Args) { return m.string(strip_tags(text_of(m, s))); }

Value urlencode_filter(Machine& m, const Value& s, Args) {
  if (s.is_string() || !has_iterator(s)) return m.string(url_quoted(text_of(m, s), false));
  std::vector<Value> pairs;
  if (s.is_dict()) {
    for (const auto& [key, value] : s.as<Dict>().entries) pairs.push_back(m.pair(key, value));
  } else if (!iterate(m, s, pairs)) {
    return {};
  }
  std::string out;
  for (const Value& entry : pairs) {
    std::vector<Value> parts;
    if (!iterate(m, entry, parts)) return {};
    if (parts.size() != 2) return m.fail("urlencode: expected pairs");
    if (!out.empty()) out += '&';
    out += fmt::format("{}={}", url_quoted(text_of(m, parts[0]), true), url_quoted(text_of(m, parts[1]), true));
  }
  return m.string(std::move(out));
}

Value urlize_filter(Machine& m, const Value&, Args) { return m.fail("the filter 'urlize' is not supported"); }

Value xmlattr_filter(Machine& m, const Value& s, Args arguments) {
  const auto bound = bind(m, "xmlattr", arguments, {"autospace"});
  if (m.failed() || !check_defined(m, s)) return {};
  if (!s.is_dict()) return m.fail(fmt::format("xmlattr: expected a mapping, got {}", type_name(s)));
  std::string out;
  for (const auto& [key, value] : s.as<Dict>().entries) {
    if (value.is_none() || value.is_undefined()) continue;
    if (!string_argument(m, key, "xmlattr: key")) return {};
    if (key.text().find_first_of(" \t\n\r\f\v/>=") != std::string::npos) {
      return m.fail(fmt::format("invalid character in attribute name: {}", quoted(key.text())));
    }
    const std::string text = text_of(m, value);
    if (!out.empty()) out += ' ';
    out += fmt::format("{}=\"{}\"", escape_html(key.text()), is_safe(value) ? text : escape_html(text));
  }
  if (!out.empty() && (bound[0].missing() || truth(bound[0]))) out.insert(out.begin(), ' ');
  return m.string(std::move(out), m.autoescape());
}

Value from_json_filter(Machine& m, const Value& s, Args) {
  if (!string_argument(m, s, "from_json: value")) return {};
  return from_json_text(m, s.text());
}

constexpr Filter kFilters[] = {
    {"upper", upper_filter},         {"lower", lower_filter},       {"capitalize", capitalize_filter},
    {"title", title_filter},         {"trim", trim_filter},         {"center", center_filter},
    {"replace", replace_filter},     {"string", string_filter},     {"safe", safe_filter},
    {"escape", escape_filter},       {"e", escape_filter},          {"forceescape", force_escape_filter},
    {"format", format_filter},       {"indent", indent_filter},     {"truncate", truncate_filter},
    {"wordcount", wordcount_filter}, {"wordwrap", wordwrap_filter}, {"striptags", striptags_filter},
    {"urlencode", urlencode_filter}, {"urlize", urlize_filter},     {"xmlattr", xmlattr_filter},
    {"pprint", pprint_filter},       {"tojson", to_json},           {"from_json", from_json_filter}};

}  // namespace

std::span<const Filter> text_filters() { return kFilters; }

}  // namespace plait::jinja
