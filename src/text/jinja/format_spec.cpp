// Layout of numbers and text.
#include "text/jinja/format_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "text/jinja/operations.h"
#include "text/jinja/unicode.h"

namespace plait::jinja {
namespace {

constexpr std::int64_t kMostDigits = 10'000;  // Of a precision.

// Puts `body` behind `sign` into the width. `digits` may take zeros between the sign and itself ('=').
std::string padded(Machine& machine, const std::string& sign, const std::string& body, const FormatSpec& spec,
                   char own_align) {
  const std::int64_t length = count_code_points(sign) + count_code_points(body);
  if (spec.width <= length) return sign + body;
  const std::int64_t total = spec.width - length;
  const std::string fill = to_utf8(spec.fill);
  if (total > (std::int64_t{1} << 40) || !machine.has_room(static_cast<std::size_t>(total) * fill.size())) {
    machine.fail_limit("a formatted field is too wide");
    return {};
  }
  const char align = spec.align ? spec.align : own_align;
  const std::int64_t left = align == '<' ? 0 : align == '^' ? total / 2 : total;
  std::string before, after;
  for (std::int64_t i = 0; i < left; ++i) before += fill;
  for (std::int64_t i = left; i < total; ++i) after += fill;
  return align == '=' ? sign + before + body : before + sign + body + after;
}

std::string sign_text(bool negative, char sign) { return negative ? "-" : sign == '-' ? "" : std::string(1, sign); }

std::string grouped(const std::string& digits, char separator, std::size_t each) {
  if (!separator) return digits;
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % each == 0) out += separator;
    out += digits[i];
  }
  return out;
}

}  // namespace

std::string lay_out_text(Machine& machine, std::string_view text, const FormatSpec& spec) {
  if (spec.align == '=' || spec.sign != '-' || spec.grouping || (spec.type && spec.type != 's')) {
    machine.fail("invalid format specifier for a string");
    return {};
  }
  std::string body(text);
  if (spec.precision >= 0 && count_code_points(text) > spec.precision) {
    body = to_utf8(std::u32string_view(to_code_points(text)).substr(0, static_cast<std::size_t>(spec.precision)));
  }
  return padded(machine, "", body, spec, '<');
}

std::string lay_out_integer(Machine& machine, std::int64_t value, const FormatSpec& spec) {
  static constexpr std::string_view kFloatTypes = "eEfFgG%";
  if (spec.type && kFloatTypes.find(spec.type) != std::string_view::npos) {
    return lay_out_float(machine, static_cast<double>(value), spec);
  }
  if (spec.type == 'c') {
    std::string text;
    if (!append_code_point(text, value >= 0 && value <= 0x10ffff ? static_cast<std::uint32_t>(value) : 0xffffffffu))
      machine.fail("%c arg not in range(0x110000)");
    return padded(machine, "", text, spec, '<');
  }
  if (spec.precision > kMostDigits) machine.fail_limit("a precision is too large");
  const std::uint64_t magnitude = value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  std::string digits;
  std::string_view prefix;
  switch (spec.type) {
    case 'x':
      digits = fmt::format("{:x}", magnitude), prefix = "0x";
      break;
    case 'X':
      digits = fmt::format("{:X}", magnitude), prefix = "0X";
      break;
    case 'o':
      digits = fmt::format("{:o}", magnitude), prefix = "0o";
      break;
    case 'b':
      digits = fmt::format("{:b}", magnitude), prefix = "0b";
      break;
    case 0:
    case 'd':
    case 'n':
      digits = fmt::format("{}", magnitude);
      break;
    default:
      machine.fail(fmt::format("unknown format code '{}' for an integer", spec.type));
  }
  if (machine.failed()) return {};
  if (spec.precision > static_cast<std::int64_t>(digits.size())) {
    digits.insert(0, static_cast<std::size_t>(spec.precision) - digits.size(), '0');
  }
  digits = grouped(digits, spec.grouping, prefix.empty() ? 3 : 4);
  std::string sign = sign_text(value < 0, spec.sign);
  if (spec.alternate) sign.append(prefix);
  return padded(machine, sign, digits, spec, '>');
}

std::string lay_out_float(Machine& machine, double value, const FormatSpec& spec) {
  if (spec.precision > kMostDigits) {
    machine.fail_limit("a precision is too large");
    return {};
  }
  const double magnitude = std::abs(value);
  const int precision = spec.precision < 0 ? 6 : static_cast<int>(spec.precision);
  std::string digits;
  const char type = spec.type == 'n' ? 'g' : spec.type;
  if (std::isnan(value) || std::isinf(value)) {
    digits = std::isnan(value) ? "nan" : "inf";
    if (type == 'E' || type == 'F' || type == 'G')
      std::transform(digits.begin(), digits.end(), digits.begin(), ::toupper);
  } else if (type == 0) {
    digits = spec.precision < 0 ? float_text(magnitude) : fmt::format("{:.{}g}", magnitude, std::max(precision, 1));
    if (spec.precision >= 0 && digits.find_first_of(".e") == std::string::npos) digits += ".0";
  } else if (type == '%') {
    digits = fmt::format("{:.{}f}%", magnitude * 100, precision);
  } else if (type == 'e' || type == 'E') {
    digits = fmt::format("{:.{}e}", magnitude, precision);
  } else if (type == 'f' || type == 'F') {
    digits = fmt::format("{:.{}f}", magnitude, precision);
  } else if (type == 'g' || type == 'G') {
    digits = fmt::format("{:.{}g}", magnitude, std::max(precision, 1));
  } else {
    machine.fail(fmt::format("unknown format code '{}' for a float", spec.type));
    return {};
  }
  if (type == 'E' || type == 'G') std::transform(digits.begin(), digits.end(), digits.begin(), ::toupper);
  if (type == '%' && !std::isfinite(value)) digits += '%';
  const std::size_t whole = std::min(digits.find_first_not_of("0123456789"), digits.size());
  digits = grouped(digits.substr(0, whole), spec.grouping, 3) + digits.substr(whole);
  return padded(machine, sign_text(std::signbit(value) && !std::isnan(value), spec.sign), digits, spec, '>');
}

}  // namespace plait::jinja
