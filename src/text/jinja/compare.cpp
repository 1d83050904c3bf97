// Truth, equality, order and membership, as Python has them.
#include <fmt/format.h>

#include "text/jinja/operations.h"

namespace plait::jinja {
namespace {

// Integers as such; with a float in extended precision, which holds every 64-bit integer exactly.
int compare_numbers(const Value& a, const Value& b) {
  if (a.is_integral() && b.is_integral()) return a.as_int() < b.as_int() ? -1 : a.as_int() > b.as_int();
  const auto wide = [](const Value& value) {
    return value.is(Kind::kFloat) ? static_cast<long double>(value.as_double())
                                  : static_cast<long double>(value.as_int());
  };
  const long double x = wide(a), y = wide(b);
  return x < y ? -1 : x > y ? 1 : x == y ? 0 : 2;  // 2: one is not a number.
}

bool too_deep(Machine& machine, int depth) {
  if (depth <= machine.limits().depth) return false;
  machine.fail_limit("values are nested too deeply to compare");
  return true;
}

bool equal_dicts(Machine& machine, const Dict& a, const Dict& b, int depth) {
  if (a.entries.size() != b.entries.size()) return false;
  for (const auto& [key, value] : a.entries) {
    const Value* other = b.find(key);
    if (!other || !equals(machine, value, *other, depth + 1)) return false;
  }
  return true;
}

}  // namespace

bool truth(const Value& value) {
  switch (value.kind()) {
    case Kind::kMissing:
    case Kind::kNone:
    case Kind::kUndefined:
      return false;
    case Kind::kBool:
      return value.as_bool();
    case Kind::kInt:
      return value.as_int() != 0;
    case Kind::kFloat:
      return value.as_double() != 0;
    case Kind::kString:
    case Kind::kBytes:
      return !value.text().empty();
    case Kind::kList:
    case Kind::kTuple:
      return !value.items().empty();
    case Kind::kDict:
      return !value.as<Dict>().entries.empty();
    case Kind::kView:
      return truth(value.as<View>().dict);
    case Kind::kRange:
      return value.as<Range>().length() != 0;
    default:
      return true;
  }
}

bool equals(Machine& machine, const Value& a, const Value& b, int depth) {
  if (machine.failed() || too_deep(machine, depth) || !machine.step()) return false;
  if (a.is_number() && b.is_number()) return compare_numbers(a, b) == 0;
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::kNone:
    case Kind::kUndefined:
      return true;
    case Kind::kString:
    case Kind::kBytes:
      return a.text() == b.text();
    case Kind::kList:
    case Kind::kTuple: {
      if (a.items().size() != b.items().size()) return false;
      for (std::size_t i = 0; i < a.items().size(); ++i) {
        if (!equals(machine, a.items()[i], b.items()[i], depth + 1)) return false;
      }
      return true;
    }
    case Kind::kDict:
      return equal_dicts(machine, a.as<Dict>(), b.as<Dict>(), depth);
    case Kind::kRange: {
      std::vector<Value> x, y;
      iterate(machine, a, x), iterate(machine, b, y);
      return equals(machine, machine.list(std::move(x)), machine.list(std::move(y)), depth + 1);
    }
    default:
      return a.same_object(b);
  }
}

int compare(Machine& machine, const Value& a, const Value& b, std::string_view sign, int depth) {
  if (machine.failed() || too_deep(machine, depth) || !machine.step()) return 0;
  if (!check_defined(machine, a) || !check_defined(machine, b)) return 0;
  if (a.is_number() && b.is_number()) return compare_numbers(a, b);
  if (a.kind() == b.kind() && (a.is_string() || a.is(Kind::kBytes))) {
    const int order = a.text().compare(b.text());  // UTF-8 keeps the order of code points.
    return order < 0 ? -1 : order > 0;
  }
  if (a.kind() == b.kind() && a.is_sequence()) {
    const std::vector<Value>&x = a.items(), &y = b.items();
    for (std::size_t i = 0; i < x.size() && i < y.size(); ++i) {
      if (!equals(machine, x[i], y[i], depth + 1)) return compare(machine, x[i], y[i], sign, depth + 1);
    }
    return x.size() < y.size() ? -1 : x.size() > y.size();
  }
  machine.fail(fmt::format("'{}' not supported between instances of '{}' and '{}'", sign, type_name(a), type_name(b)));
  return 0;
}

bool compare_by(Machine& machine, Operator op, const Value& a, const Value& b) {
  switch (op) {
    case Operator::kEqual:
      return equals(machine, a, b);
    case Operator::kNotEqual:
      return !equals(machine, a, b);
    case Operator::kLess:
      return compare(machine, a, b, "<") == -1;
    case Operator::kGreater:
      return compare(machine, a, b, ">") == 1;
    case Operator::kLessEqual: {
      const int order = compare(machine, a, b, "<=");
      return order == -1 || order == 0;
    }
    case Operator::kGreaterEqual: {
      const int order = compare(machine, a, b, ">=");
      return order == 1 || order == 0;
    }
    case Operator::kIn:
      return contains(machine, b, a);
    case Operator::kNotIn:
      return !contains(machine, b, a);
    default:
      return false;
  }
}

bool contains(Machine& machine, const Value& container, const Value& item) {
  switch (container.kind()) {
    case Kind::kString:
      if (!item.is_string()) {
        machine.fail(fmt::format("'in <string>' requires string as left operand, not {}", type_name(item)));
        return false;
      }
      return container.text().find(item.text()) != std::string::npos;
    case Kind::kDict:
      if (!is_hashable(item)) return machine.fail(fmt::format("unhashable type: '{}'", type_name(item))), false;
      return container.as<Dict>().find(item) != nullptr;
    case Kind::kUndefined:
      return false;
    case Kind::kNamespace:
      break;
    default:
      if (!has_iterator(container)) break;
      std::vector<Value> items;
      if (!iterate(machine, container, items)) return false;
      for (const Value& candidate : items) {
        if (candidate.same_object(item) || equals(machine, candidate, item)) return true;
        if (machine.failed()) return false;
      }
      return false;
  }
  machine.fail(fmt::format("argument of type '{}' is not iterable", type_name(container)));
  return false;
}

}  // namespace plait::jinja
