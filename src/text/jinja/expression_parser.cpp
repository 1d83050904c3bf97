// Expressions by recursive descent, in Jinja's order of precedence.
#include "text/jinja/expression_parser.h"

#include <algorithm>
#include <utility>

namespace plait::jinja {
namespace {

constexpr int kHighestTree = 1000;  // Chains of attributes, calls and filters grow the tree without nesting.

}  // namespace

// Every composite node passes here once its parts are in place.
ExpressionPtr ExpressionParser::finish(ExpressionPtr node) {
  int height = 0;
  const auto see = [&height](const ExpressionPtr& part) { height = std::max(height, part ? part->height : 0); };
  for (const ExpressionPtr& part : node->parts) see(part);
  for (const Keyword& keyword : node->keywords) see(keyword.value);
  see(node->star), see(node->star_star);
  node->height = height + 1;
  if (node->height > kHighestTree) return error("nested too deeply");
  return node;
}

ExpressionPtr ExpressionParser::expression(bool with_conditional) {
  const Nested nested(*this);
  if (failed()) return nullptr;
  ExpressionPtr node = logic_or();
  if (!with_conditional) return node;
  while (!failed() && is_name("if")) {
    ExpressionPtr conditional = make(ExpressionKind::kConditional, take().line);
    ExpressionPtr condition = logic_or();
    ExpressionPtr otherwise = skip_name("else") ? expression() : nullptr;
    conditional->parts.push_back(std::move(node));
    conditional->parts.push_back(std::move(condition));
    conditional->parts.push_back(std::move(otherwise));
    node = finish(std::move(conditional));
  }
  return node;
}

ExpressionPtr ExpressionParser::logic_or() {
  ExpressionPtr node = logic_and();
  if (!is_name("or")) return node;
  ExpressionPtr all = make(ExpressionKind::kOr, current().line);
  all->parts.push_back(std::move(node));
  while (skip_name("or")) all->parts.push_back(logic_and());
  return finish(std::move(all));
}

ExpressionPtr ExpressionParser::logic_and() {
  ExpressionPtr node = logic_not();
  if (!is_name("and")) return node;
  ExpressionPtr all = make(ExpressionKind::kAnd, current().line);
  all->parts.push_back(std::move(node));
  while (skip_name("and")) all->parts.push_back(logic_not());
  return finish(std::move(all));
}

ExpressionPtr ExpressionParser::logic_not() {
  if (!is_name("not")) return compare();
  const Nested nested(*this);
  if (failed()) return nullptr;
  ExpressionPtr node = make(ExpressionKind::kNot, take().line);
  node->parts.push_back(logic_not());
  return finish(std::move(node));
}

bool ExpressionParser::take_comparison(Operator& op) {
  static constexpr std::pair<std::string_view, Operator> kOperators[] = {
      {"==", Operator::kEqual},     {"!=", Operator::kNotEqual}, {"<", Operator::kLess},
      {"<=", Operator::kLessEqual}, {">", Operator::kGreater},   {">=", Operator::kGreaterEqual}};
  for (const auto& [text, meaning] : kOperators) {
    if (skip_operator(text)) return op = meaning, true;
  }
  if (skip_name("in")) return op = Operator::kIn, true;
  if (is_name("not") && ahead().kind == TokenKind::kName && ahead().text == "in") {
    take(), take();
    return op = Operator::kNotIn, true;
  }
  return false;
}

ExpressionPtr ExpressionParser::compare() {
  ExpressionPtr node = sum();
  Operator op{};
  const int line = current().line;
  if (!take_comparison(op)) return node;
  ExpressionPtr all = make(ExpressionKind::kCompare, line);
  all->parts.push_back(std::move(node));
  do {
    all->operators.push_back(op);
    all->parts.push_back(sum());
  } while (take_comparison(op));
  return finish(std::move(all));
}

ExpressionPtr ExpressionParser::sum() {
  ExpressionPtr node = concat();
  if (!is_operator("+") && !is_operator("-")) return node;
  ExpressionPtr all = make(ExpressionKind::kMath, current().line);
  all->parts.push_back(std::move(node));
  while (is_operator("+") || is_operator("-")) {
    all->operators.push_back(take().text == "+" ? Operator::kAdd : Operator::kSubtract);
    all->parts.push_back(concat());
  }
  return finish(std::move(all));
}

ExpressionPtr ExpressionParser::concat() {
  ExpressionPtr node = product();
  if (!is_operator("~")) return node;
  ExpressionPtr all = make(ExpressionKind::kConcat, current().line);
  all->parts.push_back(std::move(node));
  while (skip_operator("~")) all->parts.push_back(product());
  return finish(std::move(all));
}

ExpressionPtr ExpressionParser::product() {
  ExpressionPtr node = power();
  const auto is_product = [this] {
    return is_operator("*") || is_operator("/") || is_operator("//") || is_operator("%");
  };
  if (!is_product()) return node;
  ExpressionPtr all = make(ExpressionKind::kMath, current().line);
  all->parts.push_back(std::move(node));
  while (is_product()) {
    const Token sign = take();
    all->operators.push_back(sign.text == "*"    ? Operator::kMultiply
                             : sign.text == "/"  ? Operator::kDivide
                             : sign.text == "//" ? Operator::kFloorDivide
                                                 : Operator::kModulo);
    all->parts.push_back(power());
  }
  return finish(std::move(all));
}

ExpressionPtr ExpressionParser::power() {
  ExpressionPtr node = unary();
  if (!is_operator("**")) return node;
  ExpressionPtr all = make(ExpressionKind::kMath, current().line);
  all->parts.push_back(std::move(node));
  while (skip_operator("**")) {
    all->operators.push_back(Operator::kPower);
    all->parts.push_back(unary());
  }
  return finish(std::move(all));
}

ExpressionPtr ExpressionParser::unary(bool with_filter) {
  ExpressionPtr node;
  if (is_operator("-") || is_operator("+")) {
    const Nested nested(*this);
    if (failed()) return nullptr;
    const Token sign = take();
    node = make(sign.text == "-" ? ExpressionKind::kNegative : ExpressionKind::kPositive, sign.line);
    node->parts.push_back(unary(false));
    node = finish(std::move(node));
  } else {
    node = primary();
  }
  node = postfix(std::move(node));
  return with_filter ? filters_and_tests(std::move(node)) : std::move(node);
}

ExpressionPtr ExpressionParser::constant(Value value, int line) {
  ExpressionPtr node = make(ExpressionKind::kConstant, line);
  node->constant = std::move(value);
  return node;
}

ExpressionPtr ExpressionParser::string() {
  const int line = current().line;
  std::string text;
  while (is(TokenKind::kString)) text += take().text;
  String* object = context_.heap.make<String>(text.size());
  object->text = std::move(text);
  return constant(Value(Kind::kString, object), line);
}

ExpressionPtr ExpressionParser::primary() {
  const int line = current().line;
  if (is(TokenKind::kName)) {
    const std::string name = take().text;
    note_special(name);
    if (name == "true" || name == "True") return constant(Value::boolean(true), line);
    if (name == "false" || name == "False") return constant(Value::boolean(false), line);
    if (name == "none" || name == "None") return constant(Value::none(), line);
    ExpressionPtr node = make(ExpressionKind::kName, line);
    node->text = name;
    node->name_id = context_.names.id(name);
    return node;
  }
  if (is(TokenKind::kString)) return string();
  if (is(TokenKind::kInteger)) return constant(Value::integer(take().integer), line);
  if (is(TokenKind::kFloat)) return constant(Value::real(take().real), line);
  if (skip_operator("(")) {
    ExpressionPtr node = tuple({.in_parentheses = true});
    expect_operator(")");
    return node;
  }
  if (is_operator("[")) return list();
  if (is_operator("{")) return dict();
  return error(fmt::format("unexpected '{}'", describe(current())));
}

bool ExpressionParser::is_tuple_end(std::string_view end_name) const {
  if (is(TokenKind::kPrintEnd) || is(TokenKind::kBlockEnd) || is_operator(")")) return true;
  return !end_name.empty() && is_name(end_name);
}

ExpressionPtr ExpressionParser::tuple(const TupleRules& rules) {
  const int line = current().line;
  std::vector<ExpressionPtr> parts;
  bool is_tuple = false;
  while (!failed()) {
    if (!parts.empty()) expect_operator(",");
    if (is_tuple_end(rules.end_name)) break;
    parts.push_back(expression(rules.with_conditional));
    if (!is_operator(",")) break;
    is_tuple = true;
  }
  if (failed()) return nullptr;
  if (!is_tuple && !parts.empty()) return std::move(parts[0]);
  if (!is_tuple && !rules.in_parentheses) {
    return error(fmt::format("expected an expression, got '{}'", describe(current())));
  }
  ExpressionPtr node = make(ExpressionKind::kTuple, line);
  node->parts = std::move(parts);
  return finish(std::move(node));
}

ExpressionPtr ExpressionParser::target_name() {
  const int line = current().line;
  ExpressionPtr node = make(ExpressionKind::kName, line);
  node->text = expect_name();
  for (const std::string_view reserved : {"true", "false", "none", "True", "False", "None"}) {
    if (node->text == reserved) return error(fmt::format("can't assign to '{}'", reserved), line);
  }
  node->name_id = context_.names.id(node->text);
  return node;
}

ExpressionPtr ExpressionParser::target_part(bool with_namespace) {
  const Nested nested(*this);
  if (failed()) return nullptr;
  if (skip_operator("(")) {
    ExpressionPtr node = target(")", false);
    expect_operator(")");
    return node;
  }
  if (!is(TokenKind::kName)) return error(fmt::format("can't assign to '{}'", describe(current())));
  ExpressionPtr node = target_name();
  if (node && with_namespace && skip_operator(".")) {
    node->kind = ExpressionKind::kNamespaceTarget;
    std::string attribute = expect_name();
    node->text = std::move(attribute);
  }
  return node;
}

ExpressionPtr ExpressionParser::target(std::string_view end_name, bool with_namespace) {
  const int line = current().line;
  std::vector<ExpressionPtr> parts;
  bool is_tuple = false;
  while (!failed()) {
    if (!parts.empty()) expect_operator(",");
    if (is_tuple_end(end_name)) break;
    parts.push_back(target_part(with_namespace));
    if (!is_operator(",")) break;
    is_tuple = true;
  }
  if (failed()) return nullptr;
  if (!is_tuple && !parts.empty()) return std::move(parts[0]);
  if (!is_tuple) return error(fmt::format("expected an expression, got '{}'", describe(current())));
  ExpressionPtr node = make(ExpressionKind::kTuple, line);
  node->parts = std::move(parts);
  return finish(std::move(node));
}

ExpressionPtr ExpressionParser::list() {
  ExpressionPtr node = make(ExpressionKind::kList, take().line);
  while (!failed() && !is_operator("]")) {
    if (!node->parts.empty()) expect_operator(",");
    if (is_operator("]")) break;
    node->parts.push_back(expression());
  }
  expect_operator("]");
  return finish(std::move(node));
}

ExpressionPtr ExpressionParser::dict() {
  ExpressionPtr node = make(ExpressionKind::kDict, take().line);
  while (!failed() && !is_operator("}")) {
    if (!node->parts.empty()) expect_operator(",");
    if (is_operator("}")) break;
    node->parts.push_back(expression());
    expect_operator(":");
    node->parts.push_back(expression());
  }
  expect_operator("}");
  return finish(std::move(node));
}

}  // namespace plait::jinja
