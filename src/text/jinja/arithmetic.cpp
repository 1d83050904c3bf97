// Python's arithmetic: floor division, true division, powers, and what + * % mean for text and lists.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "text/jinja/operations.h"

namespace plait::jinja {
namespace {

std::string_view sign_of(Operator op) {
  switch (op) {
    case Operator::kAdd:
      return "+";
    case Operator::kSubtract:
      return "-";
    case Operator::kMultiply:
      return "*";
    case Operator::kDivide:
      return "/";
    case Operator::kFloorDivide:
      return "//";
    case Operator::kModulo:
      return "%";
    default:
      return "** or pow()";
  }
}

Value too_large(Machine& machine) { return machine.fail("an integer is too large"); }

Value integer_power(Machine& machine, std::int64_t base, std::int64_t exponent) {
  if (exponent < 0) {
    if (base == 0) return machine.fail("0.0 cannot be raised to a negative power");
    return Value::real(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
  std::int64_t result = 1;
  while (exponent > 0) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) return too_large(machine);
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) return too_large(machine);
  }
  return Value::integer(result);
}

Value integer_math(Machine& machine, Operator op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  switch (op) {
    case Operator::kAdd:
      return __builtin_add_overflow(a, b, &result) ? too_large(machine) : Value::integer(result);
    case Operator::kSubtract:
      return __builtin_sub_overflow(a, b, &result) ? too_large(machine) : Value::integer(result);
    case Operator::kMultiply:
      return __builtin_mul_overflow(a, b, &result) ? too_large(machine) : Value::integer(result);
    case Operator::kDivide:
      if (b == 0) return machine.fail("division by zero");
      return Value::real(static_cast<double>(static_cast<long double>(a) / static_cast<long double>(b)));
    case Operator::kFloorDivide:
    case Operator::kModulo: {
      if (b == 0) return machine.fail("integer division or modulo by zero");
      if (b == -1)
        return op == Operator::kModulo ? Value::integer(0) : integer_math(machine, Operator::kSubtract, 0, a);
      const bool uneven = a % b != 0 && (a % b < 0) != (b < 0);
      return Value::integer(op == Operator::kModulo ? a % b + (uneven ? b : 0) : a / b - (uneven ? 1 : 0));
    }
    default:
      return integer_power(machine, a, b);
  }
}

double float_modulo(double a, double b) {
  const double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(0.0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

double floor_divide(double a, double b) {
  const double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, a / b);
  const double floored = std::floor(quotient);
  return quotient - floored > 0.5 ? floored + 1 : floored;
}

Value float_math(Machine& machine, Operator op, double a, double b) {
  switch (op) {
    case Operator::kAdd:
      return Value::real(a + b);
    case Operator::kSubtract:
      return Value::real(a - b);
    case Operator::kMultiply:
      return Value::real(a * b);
    case Operator::kDivide:
      return b == 0 ? machine.fail("float division by zero") : Value::real(a / b);
    case Operator::kFloorDivide:
      return b == 0 ? machine.fail("float floor division by zero") : Value::real(floor_divide(a, b));
    case Operator::kModulo:
      return b == 0 ? machine.fail("float modulo") : Value::real(float_modulo(a, b));
    default: {
      if (a == 0 && b < 0) return machine.fail("0.0 cannot be raised to a negative power");
      if (a < 0 && b != std::floor(b)) return machine.fail("a negative number cannot be raised to a fractional power");
      const double result = std::pow(a, b);
      if (std::isinf(result) && !std::isinf(a) && !std::isinf(b)) return machine.fail("numerical result out of range");
      return Value::real(result);
    }
  }
}

Value repeated(Machine& machine, const Value& value, std::int64_t count) {
  const std::size_t times = count > 0 ? static_cast<std::size_t>(count) : 0;
  const std::size_t unit = value.is_sequence() ? value.items().size() * sizeof(Value) : value.text().size();
  if (unit != 0 && times > machine.limits().output_bytes / unit) {
    return machine.fail_limit(fmt::format("a value repeated {} times is too large", count));
  }
  if (!machine.has_room(unit * times)) return {};
  if (value.is_sequence()) {
    std::vector<Value> items;
    items.reserve(value.items().size() * times);
    for (std::size_t i = 0; i < times; ++i) items.insert(items.end(), value.items().begin(), value.items().end());
    return value.is(Kind::kList) ? machine.list(std::move(items)) : machine.tuple(std::move(items));
  }
  std::string text;
  text.reserve(unit * times);
  for (std::size_t i = 0; i < times; ++i) text += value.text();
  if (value.is(Kind::kBytes)) return machine.bytes(std::move(text));
  return machine.string(std::move(text), value.as<String>().safe);
}

// Joining marked-up text to plain text escapes the plain one.
std::string joined(const Value& a, const Value& b) {
  const bool x = a.as<String>().safe, y = b.as<String>().safe;
  return (y && !x ? escape_html(a.text()) : a.text()) + (x && !y ? escape_html(b.text()) : b.text());
}

Value added(Machine& machine, const Value& a, const Value& b) {
  if (a.is_string() && b.is_string()) {
    if (!machine.has_room(a.text().size() + b.text().size())) return {};
    return machine.string(joined(a, b), a.as<String>().safe || b.as<String>().safe);
  }
  if (a.is(Kind::kBytes) && b.is(Kind::kBytes)) return machine.bytes(a.text() + b.text());
  if (a.is_sequence() && a.kind() == b.kind()) {
    if (!machine.has_room((a.items().size() + b.items().size()) * sizeof(Value))) return {};
    std::vector<Value> items = a.items();
    items.insert(items.end(), b.items().begin(), b.items().end());
    return a.is(Kind::kList) ? machine.list(std::move(items)) : machine.tuple(std::move(items));
  }
  if (a.is_string() || a.is_sequence()) {
    const std::string name = a.is_string() ? "str" : type_name(a);
    return machine.fail(fmt::format("can only concatenate {} (not \"{}\") to {}", name, type_name(b), name));
  }
  return {};
}

}  // namespace

Value arithmetic(Machine& machine, Operator op, const Value& a, const Value& b) {
  if (machine.failed()) return {};
  if (op == Operator::kModulo && a.is_string()) return format_percent(machine, a.text(), b);
  if (!check_defined(machine, a) || !check_defined(machine, b)) return {};
  if (a.is_integral() && b.is_integral()) return integer_math(machine, op, a.as_int(), b.as_int());
  if (a.is_number() && b.is_number()) return float_math(machine, op, a.as_double(), b.as_double());
  if (op == Operator::kAdd) {
    Value result = added(machine, a, b);
    if (!result.missing() || machine.failed()) return result;
  }
  if (op == Operator::kMultiply) {
    const auto repeats = [](const Value& value) {
      return value.is_string() || value.is_sequence() || value.is(Kind::kBytes);
    };
    if (repeats(a) && b.is_integral()) return repeated(machine, a, b.as_int());
    if (repeats(b) && a.is_integral()) return repeated(machine, b, a.as_int());
  }
  return machine.fail(
      fmt::format("unsupported operand type(s) for {}: '{}' and '{}'", sign_of(op), type_name(a), type_name(b)));
}

Value negate(Machine& machine, const Value& value, bool negative) {
  if (machine.failed() || !check_defined(machine, value)) return {};
  if (value.is(Kind::kFloat)) return Value::real(negative ? -value.as_double() : value.as_double());
  if (!value.is_integral()) {
    return machine.fail(fmt::format("bad operand type for unary {}: '{}'", negative ? '-' : '+', type_name(value)));
  }
  if (!negative) return Value::integer(value.as_int());
  return integer_math(machine, Operator::kSubtract, 0, value.as_int());
}

std::optional<double> rounded(double value, std::int64_t digits) {
  if (!std::isfinite(value) || digits > 330) return value;
  if (digits < -330) return 0.0;
  // The decimal text of the exact value, rounded half to even, read back: what Python does.
  if (digits >= 0) return std::strtod(fmt::format("{:.{}f}", value, static_cast<int>(digits)).c_str(), nullptr);
  const double scale = std::pow(10.0, static_cast<double>(-digits));
  return std::nearbyint(value / scale) * scale;
}

}  // namespace plait::jinja
