// Filters that make numbers, and those that pass a value on.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "text/jinja/filters.h"
#include "text/jinja/unicode.h"

namespace plait::jinja {
namespace {

using Args = const Arguments&;

Value abs_filter(Machine& m, const Value& s, Args) {
  if (s.is(Kind::kFloat)) return Value::real(std::abs(s.as_double()));
  if (!s.is_integral()) return m.fail(fmt::format("bad operand type for abs(): '{}'", type_name(s)));
  return s.as_int() < 0 ? negate(m, s, true) : Value::integer(s.as_int());
}

Value length_filter(Machine& m, const Value& s, Args) { return Value::integer(length_of(m, s)); }

Value default_filter(Machine& m, const Value& s, Args arguments) {
  const auto bound = bind(m, "default", arguments, {"default_value", "boolean"});
  if (s.is_undefined() || (truth(bound[1]) && !truth(s))) return bound[0].missing() ? m.string("") : bound[0];
  return s;
}

// Python's int(text, base); false if the text is no such number. `too_large` if it is one but does not fit.
bool parse_integer(std::string_view text, std::int64_t base, std::int64_t& value, bool& too_large) {
  std::string_view rest = strip_left(strip_right(text));
  std::string digits;
  if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) {
    if (rest[0] == '-') digits = '-';
    rest.remove_prefix(1);
  }
  const auto prefixed = [&rest](char letter) {
    return rest.size() > 2 && rest[0] == '0' && (rest[1] | 0x20) == letter;
  };
  for (const auto& [letter, prefix_base] : {std::pair{'x', 16}, std::pair{'o', 8}, std::pair{'b', 2}}) {
    if (!prefixed(letter) || (base != prefix_base && base != 0)) continue;
    base = prefix_base;
    rest.remove_prefix(2);
    if (rest[0] == '_') rest.remove_prefix(1);
    break;
  }
  if (base == 0) {
    if (rest.size() > 1 && rest[0] == '0' && rest.find_first_not_of("0_") != std::string_view::npos) return false;
    base = 10;
  }
  bool separated = true;
  for (const char c : rest) {
    if (c == '_') {
      if (separated) return false;
      separated = true;
      continue;
    }
    separated = false;
    digits += c;
  }
  if (separated) return false;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value, static_cast<int>(base));
  too_large = parsed.ec == std::errc::result_out_of_range;
  return parsed.ptr == digits.data() + digits.size() && parsed.ec != std::errc::invalid_argument;
}

Value int_filter(Machine& m, const Value& s, Args arguments) {
  const auto bound = bind(m, "int", arguments, {"default", "base"});
  const Value fallback = bound[0].missing() ? Value::integer(0) : bound[0];
  if (m.failed() || !check_defined(m, s)) return {};
  if (s.is_integral()) return Value::integer(s.as_int());
  double number = 0;
  if (s.is_string()) {
    const std::int64_t base = bound[1].is_integral() ? bound[1].as_int() : 10;
    if (base != 0 && (base < 2 || base > 36)) return fallback;
    std::int64_t value = 0;
    bool too_large = false;
    if (parse_integer(s.text(), base, value, too_large)) {
      return too_large ? m.fail("an integer is too large") : Value::integer(value);
    }
    if (!parse_float(s.text(), number)) return fallback;
  } else if (s.is(Kind::kFloat)) {
    number = s.as_double();
    if (std::isinf(number)) return m.fail("cannot convert float infinity to integer");
  } else {
    return fallback;
  }
  if (!std::isfinite(number)) return fallback;
  if (std::abs(number) >= 9.2e18) return m.fail("an integer is too large");
  return Value::integer(static_cast<std::int64_t>(number));
}

Value float_filter(Machine& m, const Value& s, Args arguments) {
  const auto bound = bind(m, "float", arguments, {"default"});
  if (m.failed() || !check_defined(m, s)) return {};
  if (s.is_number()) return Value::real(s.as_double());
  double number = 0;
  if (s.is_string() && parse_float(s.text(), number)) return Value::real(number);
  return bound[0].missing() ? Value::real(0) : bound[0];
}

Value round_filter(Machine& m, const Value& s, Args arguments) {
  const auto bound = bind(m, "round", arguments, {"precision", "method"});
  if (m.failed() || !check_defined(m, s)) return {};
  const std::string method = bound[1].is_string() ? bound[1].text() : "common";
  if (method != "common" && method != "ceil" && method != "floor")
    return m.fail("round: method must be common, ceil or floor");
  if (!s.is_number()) return m.fail(fmt::format("type {} doesn't define __round__ method", type_name(s)));
  const auto precision = bound[0].missing() ? 0 : integer_argument(m, bound[0], "round: precision");
  if (!precision) return {};
  if (method != "common") {
    const double scale = std::pow(10.0, static_cast<double>(*precision));
    const double scaled = s.as_double() * scale;
    return Value::real((method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / scale + 0.0);  // No -0.0.
  }
  if (s.is(Kind::kFloat)) return Value::real(*rounded(s.as_double(), *precision));
  if (*precision >= 0) return Value::integer(s.as_int());
  if (*precision < -18) return Value::integer(0);
  std::int64_t scale = 1;
  for (std::int64_t i = *precision; i < 0; ++i) scale *= 10;
  std::int64_t quotient = s.as_int() / scale;
  const std::int64_t rest = std::abs(s.as_int() % scale), half = scale / 2;
  if (rest > half || (rest == half && quotient % 2 != 0)) quotient += s.as_int() < 0 ? -1 : 1;
  return Value::integer(quotient * scale);
}

Value filesizeformat_filter(Machine& m, const Value& s, Args arguments) {
  const auto bound = bind(m, "filesizeformat", arguments, {"binary"});
  double bytes = 0;
  if (s.is_number()) {
    bytes = s.as_double();
  } else if (!s.is_string() || !parse_float(s.text(), bytes)) {
    return check_defined(m, s) ? m.fail("filesizeformat: expected a number") : Value();
  }
  const bool binary = truth(bound[0]);
  const double base = binary ? 1024 : 1000;
  if (bytes == 1) return m.string("1 Byte");
  if (bytes < base) return m.string(fmt::format("{} Bytes", static_cast<std::int64_t>(bytes)));
  double unit = base;
  static constexpr std::string_view kPrefixes = "kMGTPEZY";
  std::size_t i = 0;
  for (; i < kPrefixes.size(); ++i) {
    unit = std::pow(base, static_cast<double>(i + 2));
    if (bytes < unit) break;
  }
  const char prefix = kPrefixes[std::min(i, kPrefixes.size() - 1)];
  return m.string(
      fmt::format("{:.1f} {}{}B", base * bytes / unit, binary && prefix == 'k' ? 'K' : prefix, binary ? "i" : ""));
}

Value attr_filter(Machine& m, const Value& s, Args arguments) {
  const auto bound = bind(m, "attr", arguments, {"name"}, 1);
  if (m.failed() || !check_defined(m, s) || !string_argument(m, bound[0], "attr: name")) return {};
  return field(m, s, bound[0].text());
}

constexpr Filter kFilters[] = {
    {"abs", abs_filter},         {"length", length_filter}, {"count", length_filter},
    {"default", default_filter}, {"d", default_filter},     {"int", int_filter},
    {"float", float_filter},     {"round", round_filter},   {"filesizeformat", filesizeformat_filter},
    {"attr", attr_filter}};

}  // namespace

std::span<const Filter> number_filters() { return kFilters; }

}  // namespace plait::jinja
