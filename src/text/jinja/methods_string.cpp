// The methods of str, by code points.
// Over 400 lines because str has so many methods; each is short and alone.
#include <fmt/format.h>

#include <algorithm>

#include "text/jinja/operations.h"
#include "text/jinja/string_tools.h"
#include "text/jinja/unicode.h"

namespace plait::jinja {
namespace {

using Args = const Arguments&;

bool given(const Value& value) { return !value.missing() && !value.is_none(); }

// The part of a text that find(), count() and their like look at, and the code point it begins with.
struct Window {
  std::string_view text;
  std::int64_t first = 0;
  bool valid = true;  // False if it begins behind the end: then even "" is not in it.
};

Window window(Machine& m, const std::string& text, const Value& start, const Value& stop) {
  Window part{.text = text};
  if (!given(start) && !given(stop)) return part;
  const std::int64_t length = count_code_points(text);
  std::int64_t begin = 0, end = length;
  if (given(start)) {
    const auto number = integer_argument(m, start, "start");
    if (!number) return part;
    part.valid = *number <= length;
    begin = clamp_index(*number, length);
  }
  if (given(stop)) {
    const auto number = integer_argument(m, stop, "end");
    if (!number) return part;
    end = clamp_index(*number, length);
  }
  part.valid &= begin <= end;
  std::size_t byte = 0;
  std::int64_t point = 0;
  for (; point < begin; ++point) byte += code_point_bytes(text[byte]);
  std::size_t last = byte;
  for (; point < end; ++point) last += code_point_bytes(text[last]);
  part.text = std::string_view(text).substr(byte, last - byte);
  part.first = begin;
  return part;
}

Value find_in(Machine& m, const Value& self, Args arguments, std::string_view name) {
  const auto bound = bind(m, name, arguments, {"sub", "start", "end"}, 1);
  if (m.failed() || !string_argument(m, bound[0], name)) return {};
  const Window part = window(m, self.text(), bound[1], bound[2]);
  const bool last = name[0] == 'r';
  const std::size_t at = !part.valid ? std::string_view::npos
                         : last      ? part.text.rfind(bound[0].text())
                                     : part.text.find(bound[0].text());
  if (at != std::string_view::npos) return Value::integer(part.first + count_code_points(part.text.substr(0, at)));
  return name.substr(last ? 1 : 0) == "index" ? m.fail("substring not found") : Value::integer(-1);
}

Value count_in(Machine& m, const Value& self, Args arguments) {
  const auto bound = bind(m, "count", arguments, {"sub", "start", "end"}, 1);
  if (m.failed() || !string_argument(m, bound[0], "count: sub")) return {};
  const Window part = window(m, self.text(), bound[1], bound[2]);
  if (!part.valid) return Value::integer(0);
  const std::string& what = bound[0].text();
  if (what.empty()) return Value::integer(count_code_points(part.text) + 1);
  std::int64_t count = 0;
  for (std::size_t at = 0; (at = part.text.find(what, at)) != std::string_view::npos; at += what.size()) ++count;
  return Value::integer(count);
}

Value begins_or_ends(Machine& m, const Value& self, Args arguments, bool begins) {
  const auto bound = bind(m, begins ? "startswith" : "endswith", arguments, {"prefix", "start", "end"}, 1);
  if (m.failed()) return {};
  const Window part = window(m, self.text(), bound[1], bound[2]);
  const auto matches = [&part, begins](const Value& value) {
    const std::string& text = value.text();
    return part.valid && (begins ? part.text.starts_with(text) : part.text.ends_with(text));
  };
  if (bound[0].is(Kind::kTuple)) {
    for (const Value& entry : bound[0].items()) {
      if (!string_argument(m, entry, "startswith: an item")) return {};
      if (matches(entry)) return Value::boolean(true);
    }
    return Value::boolean(false);
  }
  if (!string_argument(m, bound[0], begins ? "startswith: first argument" : "endswith: first argument")) return {};
  return Value::boolean(matches(bound[0]));
}

Value strip(Machine& m, const Value& self, Args arguments, std::string_view name) {
  const auto bound = bind(m, name, arguments, {"chars"});
  if (m.failed()) return {};
  const bool left = name != "rstrip", right = name != "lstrip";
  std::string_view text = self.text();
  if (!given(bound[0])) {
    if (left) text = strip_left(text);
    if (right) text = strip_right(text);
    return m.string(std::string(text), self.as<String>().safe);
  }
  if (!string_argument(m, bound[0], "strip: the argument")) return {};
  const std::u32string chars = to_code_points(bound[0].text());
  const std::u32string points = to_code_points(text);
  std::size_t begin = 0, end = points.size();
  while (left && begin < end && chars.find(points[begin]) != std::u32string::npos) ++begin;
  while (right && end > begin && chars.find(points[end - 1]) != std::u32string::npos) --end;
  return m.string(to_utf8(std::u32string_view(points).substr(begin, end - begin)), self.as<String>().safe);
}

std::vector<std::string> split_space(std::string_view text, std::int64_t most, bool from_right) {
  std::vector<std::string> parts;
  const auto strip = [from_right](std::string_view rest) { return from_right ? strip_right(rest) : strip_left(rest); };
  text = strip(text);
  while (!text.empty()) {
    if (most >= 0 && static_cast<std::int64_t>(parts.size()) == most) {
      parts.emplace_back(text);
      break;
    }
    std::size_t cut = 0;
    if (from_right) {
      std::size_t at = text.size();
      while (at > 0) {
        std::size_t before = at - 1;
        while (before > 0 && (static_cast<unsigned char>(text[before]) & 0xc0) == 0x80) --before;
        if (space_length(text, before) != 0) break;
        at = before;
      }
      cut = at;
      parts.emplace_back(text.substr(cut));
      text = strip(text.substr(0, cut));
    } else {
      while (cut < text.size() && space_length(text, cut) == 0) cut += code_point_bytes(text[cut]);
      parts.emplace_back(text.substr(0, cut));
      text = strip(text.substr(cut));
    }
  }
  return parts;
}

std::vector<std::string> split_at(std::string_view text, std::string_view separator, std::int64_t most,
                                  bool from_right) {
  std::vector<std::string> parts;
  while (most < 0 || static_cast<std::int64_t>(parts.size()) < most) {
    const std::size_t at = from_right ? text.rfind(separator) : text.find(separator);
    if (at == std::string_view::npos) break;
    parts.emplace_back(from_right ? text.substr(at + separator.size()) : text.substr(0, at));
    text = from_right ? text.substr(0, at) : text.substr(at + separator.size());
  }
  parts.emplace_back(text);
  return parts;
}

Value strings(Machine& m, const std::vector<std::string>& parts) {
  std::vector<Value> items;
  for (const std::string& part : parts) {
    if (!m.step()) return {};
    items.push_back(m.string(part));
  }
  return m.list(std::move(items));
}

// What a piece takes before it is a value, which the heap counts.
constexpr std::size_t kPieceBytes = sizeof(std::string);

bool has_room_for_pieces(Machine& m, std::string_view text, std::string_view separator) {
  if (separator.empty()) return true;  // An error anyway.
  std::size_t pieces = 1;
  for (std::size_t at = text.find(separator); at != std::string_view::npos; at = text.find(separator, at)) {
    ++pieces;
    at += separator.size();
  }
  return m.has_room(pieces * kPieceBytes);
}

Value split(Machine& m, const Value& self, Args arguments, bool from_right) {
  const auto bound = bind(m, "split", arguments, {"sep", "maxsplit"});
  if (m.failed()) return {};
  std::int64_t most = -1;
  if (!bound[1].missing()) {
    const auto number = integer_argument(m, bound[1], "split: maxsplit");
    if (!number) return {};
    most = *number;
  }
  std::vector<std::string> parts;
  if (!given(bound[0])) {
    const auto blanks =
        std::count_if(self.text().begin(), self.text().end(), [](char c) { return c >= 0 && c <= ' '; });
    if (!m.has_room((static_cast<std::size_t>(blanks) + 1) * kPieceBytes)) return {};
    parts = split_space(self.text(), most, from_right);
  } else {
    if (!string_argument(m, bound[0], "split: sep")) return {};
    if (!has_room_for_pieces(m, self.text(), bound[0].text())) return {};
    if (bound[0].text().empty()) return m.fail("empty separator");
    parts = split_at(self.text(), bound[0].text(), most, from_right);
  }
  if (from_right) std::reverse(parts.begin(), parts.end());
  return strings(m, parts);
}

Value partition(Machine& m, const Value& self, Args arguments, bool from_right) {
  const auto bound = bind(m, "partition", arguments, {"sep"}, 1);
  if (m.failed() || !string_argument(m, bound[0], "partition: sep")) return {};
  const std::string &text = self.text(), &separator = bound[0].text();
  if (separator.empty()) return m.fail("empty separator");
  const std::size_t at = from_right ? text.rfind(separator) : text.find(separator);
  std::vector<Value> parts(3);
  if (at == std::string::npos) {
    parts[from_right ? 2 : 0] = m.string(text);
    parts[1] = m.string("");
    parts[from_right ? 0 : 2] = m.string("");
  } else {
    parts = {m.string(text.substr(0, at)), m.string(separator), m.string(text.substr(at + separator.size()))};
  }
  return m.tuple(std::move(parts));
}

Value replace(Machine& m, const Value& self, Args arguments) {
  const auto bound = bind(m, "replace", arguments, {"old", "new", "count"}, 2);
  if (m.failed() || !string_argument(m, bound[0], "replace: old") || !string_argument(m, bound[1], "replace: new"))
    return {};
  std::int64_t most = -1;
  if (!bound[2].missing()) {
    const auto number = integer_argument(m, bound[2], "replace: count");
    if (!number) return {};
    most = *number;
  }
  const std::string &text = self.text(), &old = bound[0].text(), &with = bound[1].text();
  std::string out;
  std::int64_t done = 0;
  std::size_t at = 0;
  while (most < 0 || done < most) {
    if (old.empty()) {  // The new text goes before each character and behind the last.
      out += with;
      ++done;
      if (at >= text.size()) break;
      const std::size_t length = code_point_bytes(text[at]);
      out.append(text, at, length);
      at += length;
    } else {
      const std::size_t found = text.find(old, at);
      if (found == std::string::npos) break;
      out.append(text, at, found - at);
      out += with;
      at = found + old.size();
      ++done;
    }
    if (!m.has_room(out.size())) return {};
  }
  if (at < text.size()) out.append(text, at);
  return m.string(std::move(out), self.as<String>().safe);
}

Value join(Machine& m, const Value& self, Args arguments) {
  const auto bound = bind(m, "join", arguments, {"iterable"}, 1);
  std::vector<Value> items;
  if (m.failed() || !iterate(m, bound[0], items)) return {};
  std::string out;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!items[i].is_string()) {
      return m.fail(fmt::format("sequence item {}: expected str instance, {} found", i, type_name(items[i])));
    }
    if (i > 0) out += self.text();
    out += items[i].text();
    if (!m.has_room(out.size())) return {};
  }
  return m.string(std::move(out));
}

Value pad(Machine& m, const Value& self, Args arguments, std::string_view name) {
  const auto bound = bind(m, name, arguments, {"width", "fillchar"}, 1);
  if (m.failed()) return {};
  const auto width = integer_argument(m, bound[0], fmt::format("{}: width", name));
  std::string fill = " ";
  if (!bound[1].missing()) {
    if (!string_argument(m, bound[1], fmt::format("{}: fillchar", name))) return {};
    fill = bound[1].text();
    if (count_code_points(fill) != 1) return m.fail("the fill character must be exactly one character long");
  }
  if (!width) return {};
  const std::int64_t length = count_code_points(self.text());
  const std::int64_t total = *width > length ? *width - length : 0;
  if (total > 0 && (total > (std::int64_t{1} << 40) || !m.has_room(static_cast<std::size_t>(total) * fill.size()))) {
    return m.fail_limit("the padded text is too large");
  }
  const std::int64_t left = name == "rjust" ? total : name == "ljust" ? 0 : total / 2 + (total & *width & 1);
  std::string out;
  for (std::int64_t i = 0; i < left; ++i) out += fill;
  out += self.text();
  for (std::int64_t i = left; i < total; ++i) out += fill;
  return m.string(std::move(out));
}

Value zfill(Machine& m, const Value& self, Args arguments) {
  const auto bound = bind(m, "zfill", arguments, {"width"}, 1);
  if (m.failed()) return {};
  const auto width = integer_argument(m, bound[0], "zfill: width");
  if (!width) return {};
  std::string text = self.text();
  const std::int64_t absent = *width - count_code_points(text);
  if (absent <= 0) return m.string(std::move(text));
  if (!m.has_room(static_cast<std::size_t>(absent))) return {};
  const bool sign = !text.empty() && (text[0] == '-' || text[0] == '+');
  text.insert(sign ? 1 : 0, static_cast<std::size_t>(absent), '0');
  return m.string(std::move(text));
}

Value expandtabs(Machine& m, const Value& self, Args arguments) {
  const auto bound = bind(m, "expandtabs", arguments, {"tabsize"});
  const auto size = bound[0].missing() ? 8 : integer_argument(m, bound[0], "expandtabs: tabsize");
  if (m.failed() || !size) return {};
  std::string out;
  std::int64_t column = 0;
  for (const char32_t c : to_code_points(self.text())) {
    if (c == '\t') {
      const std::int64_t spaces = *size > 0 ? *size - column % *size : 0;
      if (!m.has_room(out.size() + static_cast<std::size_t>(spaces))) return {};
      out.append(static_cast<std::size_t>(spaces), ' ');
      column += spaces;
    } else {
      append_code_point(out, c);
      column = c == '\n' || c == '\r' ? 0 : column + 1;
    }
  }
  return m.string(std::move(out));
}

Value without_affix(Machine& m, const Value& self, Args arguments, bool prefix) {
  const auto bound = bind(m, prefix ? "removeprefix" : "removesuffix", arguments, {"affix"}, 1);
  if (m.failed() || !string_argument(m, bound[0], "the argument")) return {};
  const std::string &text = self.text(), &affix = bound[0].text();
  if (prefix && text.starts_with(affix)) return m.string(text.substr(affix.size()));
  if (!prefix && text.ends_with(affix)) return m.string(text.substr(0, text.size() - affix.size()));
  return self;
}

Value splitlines(Machine& m, const Value& self, Args arguments) {
  const auto bound = bind(m, "splitlines", arguments, {"keepends"});
  return m.failed() ? Value() : strings(m, split_lines(self.text(), truth(bound[0])));
}

Value encode(Machine& m, const Value& self, Args arguments) {
  const auto bound = bind(m, "encode", arguments, {"encoding", "errors"});
  if (m.failed()) return {};
  if (given(bound[0])) {
    if (!string_argument(m, bound[0], "encode: encoding")) return {};
    const std::string name = lower(bound[0].text());
    if (name != "utf-8" && name != "utf8") return m.fail(fmt::format("encode: unknown encoding: {}", name));
  }
  return m.bytes(self.text());
}

Value translate(Machine& m, const Value& self, Args arguments) {
  const auto bound = bind(m, "translate", arguments, {"table"}, 1);
  if (m.failed()) return {};
  if (!bound[0].is_dict()) return m.fail("translate: expected a mapping");
  std::string out;
  for (const char32_t c : to_code_points(self.text())) {
    const Value* found = bound[0].as<Dict>().find(Value::integer(c));
    if (!found)
      append_code_point(out, c);
    else if (found->is_string())
      out += found->text();
    else if (found->is_integral() && !append_code_point(out, static_cast<std::uint32_t>(found->as_int())))
      return m.fail("translate: not a character");
    if (!m.has_room(out.size())) return {};
  }
  return m.string(std::move(out));
}

struct Method {
  std::string_view name;
  Value (*run)(Machine& machine, const Value& self, Args arguments);
};

template <std::string (*kConvert)(std::string_view)>
Value converted(Machine& m, const Value& self, Args arguments) {
  bind(m, "the method", arguments, {});
  return m.failed() ? Value() : m.string(kConvert(self.text()), self.as<String>().safe);
}

// Every character passes, and there is one.
template <bool (*kPasses)(char32_t)>
Value all_are(Machine& m, const Value& self, Args arguments) {
  bind(m, "the method", arguments, {});
  for (const char32_t c : to_code_points(self.text())) {
    if (!kPasses(c)) return Value::boolean(false);
  }
  return Value::boolean(!self.text().empty());
}

bool is_alnum(char32_t c) { return is_letter(c) || is_numeric(c); }

Value isprintable(Machine&, const Value& self, Args) {
  const std::u32string points = to_code_points(self.text());
  return Value::boolean(std::all_of(points.begin(), points.end(), is_printable));
}

Value isascii(Machine&, const Value& self, Args) {
  return Value::boolean(
      std::all_of(self.text().begin(), self.text().end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
}

Value isidentifier(Machine&, const Value& self, Args) {
  const std::u32string points = to_code_points(self.text());
  return Value::boolean(!points.empty() && !is_numeric(points[0]) &&
                        std::all_of(points.begin(), points.end(), is_word));
}

template <bool (*kWanted)(char32_t), bool (*kOther)(char32_t)>
Value has_case(Machine&, const Value& self, Args) {
  bool found = false;
  for (const char32_t c : to_code_points(self.text())) {
    if (kOther(c) || is_title(c)) return Value::boolean(false);
    found |= kWanted(c);
  }
  return Value::boolean(found);
}

Value istitle(Machine&, const Value& self, Args) {
  bool found = false, inside = false;
  for (const char32_t c : to_code_points(self.text())) {
    if ((is_upper(c) || is_title(c)) && inside) return Value::boolean(false);
    if (is_lower(c) && !inside) return Value::boolean(false);
    inside = is_cased(c);
    found |= inside;
  }
  return Value::boolean(found);
}

constexpr Method kMethods[] = {
    {"strip", [](Machine& m, const Value& s, Args a) { return strip(m, s, a, "strip"); }},
    {"lstrip", [](Machine& m, const Value& s, Args a) { return strip(m, s, a, "lstrip"); }},
    {"rstrip", [](Machine& m, const Value& s, Args a) { return strip(m, s, a, "rstrip"); }},
    {"split", [](Machine& m, const Value& s, Args a) { return split(m, s, a, false); }},
    {"rsplit", [](Machine& m, const Value& s, Args a) { return split(m, s, a, true); }},
    {"startswith", [](Machine& m, const Value& s, Args a) { return begins_or_ends(m, s, a, true); }},
    {"endswith", [](Machine& m, const Value& s, Args a) { return begins_or_ends(m, s, a, false); }},
    {"replace", replace},
    {"join", join},
    {"format", [](Machine& m, const Value& s, Args a) { return format_braces(m, s.text(), a); }},
    {"format_map", [](Machine& m, const Value& s, Args a) { return format_braces_map(m, s.text(), a); }},
    {"upper", converted<upper>},
    {"lower", converted<lower>},
    {"title", converted<title>},
    {"capitalize", converted<capitalize>},
    {"swapcase", converted<swapcase>},
    {"casefold", converted<casefold>},
    {"find", [](Machine& m, const Value& s, Args a) { return find_in(m, s, a, "find"); }},
    {"rfind", [](Machine& m, const Value& s, Args a) { return find_in(m, s, a, "rfind"); }},
    {"index", [](Machine& m, const Value& s, Args a) { return find_in(m, s, a, "index"); }},
    {"rindex", [](Machine& m, const Value& s, Args a) { return find_in(m, s, a, "rindex"); }},
    {"count", count_in},
    {"partition", [](Machine& m, const Value& s, Args a) { return partition(m, s, a, false); }},
    {"rpartition", [](Machine& m, const Value& s, Args a) { return partition(m, s, a, true); }},
    {"removeprefix", [](Machine& m, const Value& s, Args a) { return without_affix(m, s, a, true); }},
    {"removesuffix", [](Machine& m, const Value& s, Args a) { return without_affix(m, s, a, false); }},
    {"splitlines", splitlines},
    {"center", [](Machine& m, const Value& s, Args a) { return pad(m, s, a, "center"); }},
    {"ljust", [](Machine& m, const Value& s, Args a) { return pad(m, s, a, "ljust"); }},
    {"rjust", [](Machine& m, const Value& s, Args a) { return pad(m, s, a, "rjust"); }},
    {"zfill", zfill},
    {"expandtabs", expandtabs},
    {"encode", encode},
    {"translate", translate},
    {"isalpha", all_are<is_letter>},
    {"isdigit", all_are<is_digit_like>},
    {"isdecimal", all_are<is_decimal>},
    {"isnumeric", all_are<is_numeric>},
    {"isalnum", all_are<is_alnum>},
    {"isspace", all_are<is_space>},
    {"isprintable", isprintable},
    {"isascii", isascii},
    {"isidentifier", isidentifier},
    {"islower", has_case<is_lower, is_upper>},
    {"isupper", has_case<is_upper, is_lower>},
    {"istitle", istitle},
};

const Method* find_string_method(std::string_view name) {
  for (const Method& method : kMethods) {
    if (method.name == name) return &method;
  }
  return nullptr;
}

}  // namespace

bool is_string_method(std::string_view name) { return find_string_method(name) != nullptr; }

Value call_string_method(Machine& machine, const Value& self, std::string_view name, const Arguments& arguments) {
  const Method* method = find_string_method(name);
  if (!method || machine.failed()) return {};
  Value result = method->run(machine, self, arguments);
  return machine.failed() ? Value() : result;
}

}  // namespace plait::jinja
