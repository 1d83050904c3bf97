// Expressions to values.
#include <fmt/format.h>

#include "text/jinja/level.h"
#include "text/jinja/operations.h"

namespace plait::jinja {

Value Machine::evaluate(const Expression& node) {
  if (node.kind == ExpressionKind::kConstant) return node.constant;
  const Level level(*this);
  if (!step()) return {};
  line_ = node.line;
  return evaluate_node(node);
}

Value Machine::evaluate_node(const Expression& node) {
  switch (node.kind) {
    case ExpressionKind::kConstant:
      return node.constant;
    case ExpressionKind::kName:
      return evaluate_name(node);
    case ExpressionKind::kNamespaceTarget:
      return {};
    case ExpressionKind::kList:
      return list(evaluate_all(node.parts));
    case ExpressionKind::kTuple:
      return tuple(evaluate_all(node.parts));
    case ExpressionKind::kDict:
      return evaluate_dict(node);
    case ExpressionKind::kNot: {
      const Value value = evaluate(*node.parts[0]);
      return failed_ ? Value() : Value::boolean(!truth(value));
    }
    case ExpressionKind::kNegative:
    case ExpressionKind::kPositive:
      return negate(*this, evaluate(*node.parts[0]), node.kind == ExpressionKind::kNegative);
    case ExpressionKind::kAnd:
    case ExpressionKind::kOr:
      return evaluate_logic(node);
    case ExpressionKind::kMath:
      return evaluate_math(node);
    case ExpressionKind::kConcat:
      return evaluate_concat(node);
    case ExpressionKind::kCompare:
      return evaluate_compare(node);
    case ExpressionKind::kConditional:
      return evaluate_conditional(node);
    case ExpressionKind::kAttribute: {
      const Value object = evaluate(*node.parts[0]);
      line_ = node.line;
      return attribute(*this, object, node.text);
    }
    case ExpressionKind::kItem: {
      const Value object = evaluate(*node.parts[0]);
      const Value key = evaluate(*node.parts[1]);
      line_ = node.line;
      return item(*this, object, key);
    }
    case ExpressionKind::kSlice:
      return evaluate_slice(node);
    case ExpressionKind::kCall:
      return evaluate_call(node);
    case ExpressionKind::kFilter:
      return evaluate_filter(node, evaluate(*node.parts[0]));
    case ExpressionKind::kTest:
      return evaluate_test(node);
  }
  return {};
}

Value Machine::evaluate_name(const Expression& node) {
  if (const Value* found = scope_.as<Scope>().find(node.name_id)) return *found;
  return undefined(fmt::format("{} is undefined", quoted(node.text)));
}

std::vector<Value> Machine::evaluate_all(const std::vector<ExpressionPtr>& parts, std::size_t first) {
  std::vector<Value> values;
  values.reserve(parts.size() - first);
  for (std::size_t i = first; i < parts.size() && !failed_; ++i) values.push_back(evaluate(*parts[i]));
  return values;
}

Value Machine::evaluate_dict(const Expression& node) {
  Value result = dict();
  for (std::size_t i = 0; i + 1 < node.parts.size() && !failed_; i += 2) {
    Value key = evaluate(*node.parts[i]);
    Value value = evaluate(*node.parts[i + 1]);
    if (failed_) return {};
    if (!is_hashable(key)) return fail(fmt::format("unhashable type: '{}'", type_name(key)));
    result.as<Dict>().set(std::move(key), std::move(value));
  }
  return failed_ ? Value() : result;
}

Value Machine::evaluate_logic(const Expression& node) {
  const bool stops_at = node.kind == ExpressionKind::kOr;
  Value value;
  for (const ExpressionPtr& part : node.parts) {
    value = evaluate(*part);
    if (failed_ || truth(value) == stops_at) break;
  }
  return value;
}

Value Machine::evaluate_math(const Expression& node) {
  Value value = evaluate(*node.parts[0]);
  for (std::size_t i = 0; i < node.operators.size() && !failed_; ++i) {
    const Value right = evaluate(*node.parts[i + 1]);
    if (failed_) return {};
    line_ = node.line;
    value = arithmetic(*this, node.operators[i], value, right);
  }
  return value;
}

Value Machine::evaluate_concat(const Expression& node) {
  std::string text;
  bool safe = false;
  for (const ExpressionPtr& part : node.parts) {
    const Value value = evaluate(*part);
    if (failed_) return {};
    const bool is_safe = value.is_string() && value.as<String>().safe;
    const std::string piece = text_of(*this, value);
    if (!has_room(text.size() + piece.size())) return {};
    text += autoescape_ && !is_safe ? escape_html(piece) : piece;
    safe |= autoescape_;
  }
  return string(std::move(text), safe);
}

Value Machine::evaluate_compare(const Expression& node) {
  Value left = evaluate(*node.parts[0]);
  for (std::size_t i = 0; i < node.operators.size(); ++i) {
    Value right = evaluate(*node.parts[i + 1]);
    if (failed_) return {};
    line_ = node.line;
    const bool holds = compare_by(*this, node.operators[i], left, right);
    if (failed_) return {};
    if (!holds) return Value::boolean(false);
    left = std::move(right);
  }
  return Value::boolean(true);
}

Value Machine::evaluate_conditional(const Expression& node) {
  const Value condition = evaluate(*node.parts[1]);
  if (failed_) return {};
  if (truth(condition)) return evaluate(*node.parts[0]);
  if (node.parts[2]) return evaluate(*node.parts[2]);
  return undefined(
      fmt::format("the inline if-expression on line {} evaluated to false and no else section was defined", node.line));
}

Value Machine::evaluate_slice(const Expression& node) {
  const Value object = evaluate(*node.parts[0]);
  Value bounds[3];
  for (std::size_t i = 0; i < 3; ++i) {
    if (node.parts[i + 1]) bounds[i] = evaluate(*node.parts[i + 1]);
  }
  line_ = node.line;
  return slice(*this, object, bounds[0], bounds[1], bounds[2]);
}

bool Machine::evaluate_arguments(const Expression& node, Arguments& arguments) {
  arguments.positional = evaluate_all(node.parts, 1);
  for (const Keyword& keyword : node.keywords) {
    if (failed_) return false;
    for (const auto& earlier : arguments.named) {
      if (earlier.first == keyword.name) return fail(fmt::format("keyword argument repeated: {}", keyword.name)), false;
    }
    arguments.named.emplace_back(keyword.name, evaluate(*keyword.value));
  }
  if (node.star && !failed_) {
    std::vector<Value> items;
    iterate(*this, evaluate(*node.star), items);
    arguments.positional.insert(arguments.positional.end(), items.begin(), items.end());
  }
  if (node.star_star && !failed_) {
    const Value names = evaluate(*node.star_star);
    if (failed_) return false;
    if (!names.is_dict())
      return fail(fmt::format("argument after ** must be a mapping, not {}", type_name(names))), false;
    for (const auto& [key, value] : names.as<Dict>().entries) {
      if (!key.is_string()) return fail("keywords must be strings"), false;
      arguments.named.emplace_back(key.text(), value);
    }
  }
  return !failed_;
}

Value Machine::evaluate_call(const Expression& node) {
  const Value callee = evaluate(*node.parts[0]);
  Arguments arguments;
  if (failed_ || !evaluate_arguments(node, arguments)) return {};
  line_ = node.line;
  Value result = call(callee, arguments);
  if (!failed_) line_ = node.line;
  return result;
}

Value Machine::evaluate_filter(const Expression& node, Value subject) {
  Arguments arguments;
  if (failed_ || !evaluate_arguments(node, arguments)) return {};
  line_ = node.line;
  return call_filter(node.text, std::move(subject), arguments);
}

Value Machine::evaluate_test(const Expression& node) {
  const Value subject = evaluate(*node.parts[0]);
  Arguments arguments;
  if (failed_ || !evaluate_arguments(node, arguments)) return {};
  line_ = node.line;
  const bool holds = call_test(node.text, subject, arguments);
  return failed_ ? Value() : Value::boolean(holds);
}

}  // namespace plait::jinja
