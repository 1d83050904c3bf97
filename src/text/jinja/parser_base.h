// What both halves of the parser share: the place in the token stream, the first error, the depth.
#pragma once

#include <fmt/format.h>

#include <initializer_list>

#include "text/jinja/parser.h"

namespace plait::jinja {

class ParserBase {
 public:
  ParserBase(const std::vector<Token>& tokens, const ParseContext& context, Failure& failure)
      : tokens_(tokens), context_(context), failure_(failure) {}

 protected:
  // Counts nesting for as long as it lives.
  class Nested {
   public:
    explicit Nested(ParserBase& parser) : parser_(parser) {
      if (++parser_.depth_ > parser_.context_.depth) parser_.error("nested too deeply");
    }
    ~Nested() { --parser_.depth_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    ParserBase& parser_;
  };

  const Token& current() const { return tokens_[at_]; }
  const Token& ahead() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }
  bool failed() const { return failed_; }

  // Keeps the first error. From then on the parser sees the end of the template only, so it comes to rest.
  std::nullptr_t error(std::string message, int line = 0) {
    if (!failed_) failure_ = {std::move(message), line > 0 ? line : current().line};
    failed_ = true;
    at_ = tokens_.size() - 1;
    return nullptr;
  }

  Token take() {
    const Token& token = tokens_[at_];
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  bool is(TokenKind kind) const { return current().kind == kind; }
  bool is_operator(std::string_view text) const { return is(TokenKind::kOperator) && current().text == text; }
  bool is_name(std::string_view text) const { return is(TokenKind::kName) && current().text == text; }
  bool skip_operator(std::string_view text) { return is_operator(text) && (take(), true); }
  bool skip_name(std::string_view text) { return is_name(text) && (take(), true); }

  bool expect(TokenKind kind, std::string_view what) {
    if (is(kind)) return take(), true;
    unexpected(what);
    return false;
  }
  bool expect_operator(std::string_view text) { return skip_operator(text) || (unexpected(text), false); }
  std::string expect_name() {
    if (is(TokenKind::kName)) return take().text;
    unexpected("name");
    return {};
  }
  void unexpected(std::string_view wanted) {
    if (is(TokenKind::kEnd)) {
      error(fmt::format("unexpected end of template, expected '{}'", wanted));
    } else {
      error(fmt::format("expected token '{}', got '{}'", wanted, describe(current())));
    }
  }

  ExpressionPtr make(ExpressionKind kind, int line) {
    auto node = std::make_unique<Expression>();
    node->kind = kind;
    node->line = line;
    return node;
  }

  const std::vector<Token>& tokens_;
  const ParseContext& context_;
  Failure& failure_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool failed_ = false;
};

}  // namespace plait::jinja
