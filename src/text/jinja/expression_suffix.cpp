// What may follow a value in an expression: attributes, items, slices, calls, filters and tests.
#include <utility>

#include "text/jinja/expression_parser.h"

namespace plait::jinja {

ExpressionPtr ExpressionParser::postfix(ExpressionPtr node) {
  while (!failed()) {
    if (is_operator(".") || is_operator("[")) {
      node = subscript(std::move(node));
    } else if (is_operator("(")) {
      ExpressionPtr call = make(ExpressionKind::kCall, current().line);
      call->parts.push_back(std::move(node));
      arguments(*call);
      node = finish(std::move(call));
    } else {
      break;
    }
  }
  return node;
}

ExpressionPtr ExpressionParser::filters_and_tests(ExpressionPtr node) {
  while (!failed()) {
    if (is_operator("|")) {
      node = filters(std::move(node));
    } else if (is_name("is")) {
      node = test(std::move(node));
    } else if (is_operator("(")) {
      ExpressionPtr call = make(ExpressionKind::kCall, current().line);
      call->parts.push_back(std::move(node));
      arguments(*call);
      node = finish(std::move(call));
    } else {
      break;
    }
  }
  return node;
}

ExpressionPtr ExpressionParser::subscript(ExpressionPtr object) {
  const Token begin = take();
  if (begin.text == "[") return slice_or_item(std::move(object), begin.line);
  ExpressionPtr node = make(ExpressionKind::kAttribute, begin.line);
  node->parts.push_back(std::move(object));
  if (is(TokenKind::kName)) {
    node->text = take().text;
  } else if (is(TokenKind::kInteger)) {
    node->kind = ExpressionKind::kItem;
    node->parts.push_back(constant(Value::integer(current().integer), current().line));
    take();
  } else {
    return error("expected name or number");
  }
  return finish(std::move(node));
}

ExpressionPtr ExpressionParser::slice_or_item(ExpressionPtr object, int line) {
  ExpressionPtr node = make(ExpressionKind::kItem, line);
  node->parts.push_back(std::move(object));
  std::vector<ExpressionPtr> parts;
  const auto part_ends = [this] { return is_operator(":") || is_operator("]") || is_operator(","); };
  if (!is_operator(":")) parts.push_back(expression());
  if (is_operator(":")) {
    node->kind = ExpressionKind::kSlice;
    if (parts.empty()) parts.push_back(nullptr);
    take();
    parts.push_back(part_ends() ? nullptr : expression());
    parts.push_back(skip_operator(":") && !part_ends() ? expression() : nullptr);
    for (ExpressionPtr& part : parts) node->parts.push_back(std::move(part));
    if (is_operator(",")) return error("a slice cannot be part of a tuple");
  } else if (is_operator(",")) {
    ExpressionPtr all = make(ExpressionKind::kTuple, line);
    all->parts = std::move(parts);
    while (!failed() && skip_operator(",")) all->parts.push_back(expression());
    node->parts.push_back(std::move(all));
  } else {
    node->parts.push_back(std::move(parts[0]));
  }
  expect_operator("]");
  return finish(std::move(node));
}

void ExpressionParser::arguments(Expression& node) {
  const int line = current().line;
  expect_operator("(");
  bool first = true;
  while (!failed() && !is_operator(")")) {
    if (!first) {
      expect_operator(",");
      if (is_operator(")")) break;
    }
    first = false;
    bool ordered = true;
    if (skip_operator("*")) {
      ordered = !node.star && !node.star_star;
      node.star = expression();
    } else if (skip_operator("**")) {
      ordered = !node.star_star;
      node.star_star = expression();
    } else if (is(TokenKind::kName) && ahead().kind == TokenKind::kOperator && ahead().text == "=") {
      ordered = !node.star_star;
      Keyword keyword;
      keyword.name = take().text;
      take();
      keyword.value = expression();
      node.keywords.push_back(std::move(keyword));
    } else {
      ordered = !node.star && !node.star_star && node.keywords.empty();
      node.parts.push_back(expression());
    }
    if (!ordered) error("invalid syntax for function call expression", line);
  }
  expect_operator(")");
}

ExpressionPtr ExpressionParser::filters(ExpressionPtr node, bool start_inline) {
  while (!failed() && (is_operator("|") || start_inline)) {
    if (!start_inline) take();
    start_inline = false;
    ExpressionPtr filter = make(ExpressionKind::kFilter, current().line);
    filter->text = expect_name();
    while (skip_operator(".")) filter->text.append(".").append(expect_name());
    filter->parts.push_back(std::move(node));
    if (is_operator("(")) arguments(*filter);
    node = finish(std::move(filter));
  }
  return node;
}

ExpressionPtr ExpressionParser::test(ExpressionPtr subject) {
  const int line = take().line;
  const bool negated = skip_name("not");
  ExpressionPtr node = make(ExpressionKind::kTest, line);
  node->text = expect_name();
  while (skip_operator(".")) node->text.append(".").append(expect_name());
  node->parts.push_back(std::move(subject));
  const bool starts_operand = is(TokenKind::kName) || is(TokenKind::kString) || is(TokenKind::kInteger) ||
                              is(TokenKind::kFloat) || is_operator("[") || is_operator("{");
  if (is_operator("(")) {
    arguments(*node);
  } else if (starts_operand && !is_name("else") && !is_name("or") && !is_name("and")) {
    if (is_name("is")) return error("you cannot chain multiple tests with is");
    const Nested nested(*this);
    node->parts.push_back(postfix(primary()));
  }
  node = finish(std::move(node));
  if (!negated || !node) return node;
  ExpressionPtr inverse = make(ExpressionKind::kNot, line);
  inverse->parts.push_back(std::move(node));
  return finish(std::move(inverse));
}

}  // namespace plait::jinja
