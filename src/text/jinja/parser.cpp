// The parser's half for statements, and its entry.
#include "text/jinja/parser.h"

#include <algorithm>

#include "text/jinja/expression_parser.h"

namespace plait::jinja {
namespace {

using EndTags = std::initializer_list<std::string_view>;

class Parser : public ExpressionParser {
 public:
  using ExpressionParser::ExpressionParser;

  bool run(Body& body) {
    body = statements({});
    return !failed();
  }

 private:
  // Reads until one of the tags; the tag's name is then current.
  Body statements(EndTags ends) {
    Body body;
    while (!failed() && !is(TokenKind::kEnd)) {
      const int line = current().line;
      if (is(TokenKind::kText)) {
        StatementPtr node = make_statement(StatementKind::kText, line);
        node->text = take().text;
        body.push_back(std::move(node));
      } else if (is(TokenKind::kPrintBegin)) {
        take();
        StatementPtr node = make_statement(StatementKind::kPrint, line);
        node->value = tuple({});
        expect(TokenKind::kPrintEnd, "end of print statement");
        body.push_back(std::move(node));
      } else if (is(TokenKind::kBlockBegin)) {
        take();
        if (is(TokenKind::kName) && std::find(ends.begin(), ends.end(), current().text) != ends.end()) return body;
        if (StatementPtr node = statement()) body.push_back(std::move(node));
        expect(TokenKind::kBlockEnd, "end of statement block");
      } else {
        error("unexpected token");
      }
    }
    if (ends.size() > 0 && !failed()) {
      error(fmt::format("unexpected end of template, looking for '{}'", fmt::join(ends, "' or '")));
    }
    return body;
  }

  // From behind a tag's head to its end tag, which is taken; returns which it was.
  std::string block(Body& body, EndTags ends) {
    skip_operator(":");
    expect(TokenKind::kBlockEnd, "end of statement block");
    body = statements(ends);
    return failed() ? std::string() : take().text;
  }

  StatementPtr make_statement(StatementKind kind, int line) {
    auto node = std::make_unique<Statement>();
    node->kind = kind;
    node->line = line;
    return node;
  }

  StatementPtr statement() {
    const Nested nested(*this);
    if (failed()) return nullptr;
    if (!is(TokenKind::kName)) return error("tag name expected");
    using Reader = StatementPtr (Parser::*)(int line);
    static constexpr std::pair<std::string_view, Reader> kReaders[] = {{"for", &Parser::for_loop},
                                                                       {"if", &Parser::if_else},
                                                                       {"set", &Parser::set},
                                                                       {"macro", &Parser::macro},
                                                                       {"call", &Parser::call},
                                                                       {"filter", &Parser::filter},
                                                                       {"with", &Parser::with},
                                                                       {"autoescape", &Parser::autoescape},
                                                                       {"block", &Parser::named_block},
                                                                       {"print", &Parser::print},
                                                                       {"generation", &Parser::generation},
                                                                       {"break", &Parser::leave_loop},
                                                                       {"continue", &Parser::leave_loop},
                                                                       {"extends", &Parser::loader},
                                                                       {"include", &Parser::loader},
                                                                       {"import", &Parser::loader},
                                                                       {"from", &Parser::loader}};
    for (const auto& [name, reader] : kReaders) {
      if (!is_name(name)) continue;
      tag_ = current().text;
      const int line = take().line;
      return (this->*reader)(line);
    }
    return error(fmt::format("encountered unknown tag '{}'", current().text));
  }

  StatementPtr for_loop(int line) {
    StatementPtr node = make_statement(StatementKind::kFor, line);
    node->target = target("in", false);
    if (!skip_name("in")) unexpected("in");
    node->value = tuple({.with_conditional = false, .end_name = "recursive"});
    if (skip_name("if")) node->test = expression();
    node->flag = skip_name("recursive");
    ++loops_;
    const std::string end = block(node->body, {"endfor", "else"});
    --loops_;
    if (end == "else") block(node->otherwise, {"endfor"});
    return node;
  }

  StatementPtr if_else(int line) {
    StatementPtr node = make_statement(StatementKind::kIf, line);
    for (std::string end = "elif"; end == "elif" && !failed();) {
      Branch branch;
      branch.test = tuple({.with_conditional = false});
      end = block(branch.body, {"elif", "else", "endif"});
      node->branches.push_back(std::move(branch));
      if (end == "else") block(node->otherwise, {"endif"});
    }
    return node;
  }

  StatementPtr set(int line) {
    StatementPtr node = make_statement(StatementKind::kSet, line);
    node->target = target("", true);
    if (skip_operator("=")) {
      node->value = tuple({});
      return node;
    }
    node->kind = StatementKind::kSetBlock;
    node->value = filters(nullptr);
    block(node->body, {"endset"});
    return node;
  }

  void signature(MacroNode& macro) {
    expect_operator("(");
    while (!failed() && !is_operator(")")) {
      if (!macro.parameters.empty()) expect_operator(",");
      ExpressionPtr parameter = target_name();
      if (!parameter) return;
      if (std::find(macro.parameters.begin(), macro.parameters.end(), parameter->name_id) != macro.parameters.end()) {
        error(fmt::format("duplicate argument '{}' in the definition of a macro", parameter->text));
        return;
      }
      macro.parameters.push_back(parameter->name_id);
      macro.parameter_names.push_back(parameter->text);
      if (skip_operator("=")) {
        macro.defaults.push_back(expression());
      } else if (!macro.defaults.empty()) {
        error("non-default argument follows default argument");
      }
    }
    expect_operator(")");
  }

  // The body of a macro or caller: a function of its own, with loops of its own.
  void macro_body(MacroNode& macro, std::string_view end) {
    const SpecialNames outer = special_names_;
    const int loops = loops_;
    special_names_ = {};
    loops_ = 0;
    block(macro.body, {end});
    loops_ = loops;
    macro.uses_caller = special_names_.caller;
    macro.uses_varargs = special_names_.varargs;
    macro.uses_kwargs = special_names_.kwargs;
    special_names_ = {outer.caller || macro.uses_caller, outer.varargs || macro.uses_varargs,
                      outer.kwargs || macro.uses_kwargs};
  }

  StatementPtr macro(int line) {
    StatementPtr node = make_statement(StatementKind::kMacro, line);
    node->macro.line = line;
    ExpressionPtr name = target_name();
    if (!name) return nullptr;
    node->macro.name = name->text;
    node->macro.name_id = name->name_id;
    signature(node->macro);
    macro_body(node->macro, "endmacro");
    return node;
  }

  StatementPtr call(int line) {
    StatementPtr node = make_statement(StatementKind::kCall, line);
    node->macro.line = line;
    node->macro.name = "caller";
    if (is_operator("(")) signature(node->macro);
    node->value = expression();
    if (!failed() && node->value->kind != ExpressionKind::kCall) return error("expected call");
    macro_body(node->macro, "endcall");
    return node;
  }

  StatementPtr filter(int line) {
    StatementPtr node = make_statement(StatementKind::kFilter, line);
    node->value = filters(nullptr, true);
    block(node->body, {"endfilter"});
    return node;
  }

  StatementPtr with(int line) {
    StatementPtr node = make_statement(StatementKind::kWith, line);
    while (!failed() && !is(TokenKind::kBlockEnd)) {
      if (!node->targets.empty()) expect_operator(",");
      node->targets.push_back(target("", false));
      expect_operator("=");
      node->values.push_back(expression());
    }
    block(node->body, {"endwith"});
    return node;
  }

  StatementPtr autoescape(int line) {
    StatementPtr node = make_statement(StatementKind::kAutoescape, line);
    node->value = expression();
    block(node->body, {"endautoescape"});
    return node;
  }

  StatementPtr named_block(int line) {
    StatementPtr node = make_statement(StatementKind::kBlock, line);
    node->text = expect_name();
    if (std::find(blocks_.begin(), blocks_.end(), node->text) != blocks_.end()) {
      return error(fmt::format("block '{}' defined twice", node->text));
    }
    blocks_.push_back(node->text);
    node->flag = skip_name("scoped");
    const bool required = skip_name("required");
    const int loops = loops_;
    loops_ = 0;
    block(node->body, {"endblock"});
    loops_ = loops;
    skip_name(node->text);
    if (required && !failed()) return error(fmt::format("required block '{}' was not overridden", node->text), line);
    return node;
  }

  StatementPtr print(int line) {
    StatementPtr node = make_statement(StatementKind::kPrint, line);
    node->value = tuple({});
    return node;
  }

  StatementPtr generation(int line) {
    StatementPtr node = make_statement(StatementKind::kGeneration, line);
    block(node->body, {"endgeneration"});
    return node;
  }

  StatementPtr leave_loop(int line) {
    if (loops_ == 0) return error(fmt::format("'{}' outside loop", tag_), line);
    return make_statement(tag_ == "break" ? StatementKind::kBreak : StatementKind::kContinue, line);
  }

  // Read loosely: whatever such a tag says, rendering it fails.
  StatementPtr loader(int line) {
    StatementPtr node = make_statement(StatementKind::kLoader, line);
    node->text = tag_;
    node->value = expression();
    while (!failed() && !is(TokenKind::kBlockEnd) && !is(TokenKind::kEnd)) take();
    return node;
  }

  std::string tag_;
  std::vector<std::string> blocks_;
  int loops_ = 0;
};

}  // namespace

bool parse(const std::vector<Token>& tokens, const ParseContext& context, Body& body, Failure& failure) {
  return Parser(tokens, context, failure).run(body);
}

}  // namespace plait::jinja
