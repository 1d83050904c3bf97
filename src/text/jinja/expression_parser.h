// The parser's half for expressions, from conditional down to names and literals.
#pragma once

#include "text/jinja/parser_base.h"

namespace plait::jinja {

// How a list of expressions separated by commas is read.
struct TupleRules {
  bool with_conditional = true;    // `x if y else z` may stand in it.
  std::string_view end_name = {};  // A name that ends it, such as `in`.
  bool in_parentheses = false;     // Then it may be empty.
};

class ExpressionParser : public ParserBase {
 public:
  using ParserBase::ParserBase;

  ExpressionPtr expression(bool with_conditional = true);
  ExpressionPtr tuple(const TupleRules& rules);
  ExpressionPtr target(std::string_view end_name, bool with_namespace);  // What is assigned to.
  ExpressionPtr target_name();
  ExpressionPtr filters(ExpressionPtr node, bool start_inline = false);

 protected:
  struct SpecialNames {
    bool caller = false, varargs = false, kwargs = false;
  };
  SpecialNames special_names_;  // Met so far in the macro that is being read.

 private:
  void note_special(std::string_view name) {
    special_names_.caller |= name == "caller";
    special_names_.varargs |= name == "varargs";
    special_names_.kwargs |= name == "kwargs";
  }
  ExpressionPtr finish(ExpressionPtr node);
  ExpressionPtr logic_or();
  ExpressionPtr logic_and();
  ExpressionPtr logic_not();
  ExpressionPtr compare();
  ExpressionPtr sum();
  ExpressionPtr concat();
  ExpressionPtr product();
  ExpressionPtr power();
  ExpressionPtr unary(bool with_filter = true);
  ExpressionPtr primary();
  ExpressionPtr constant(Value value, int line);
  ExpressionPtr string();
  ExpressionPtr list();
  ExpressionPtr dict();
  ExpressionPtr postfix(ExpressionPtr node);
  ExpressionPtr filters_and_tests(ExpressionPtr node);
  ExpressionPtr subscript(ExpressionPtr node);
  ExpressionPtr slice_or_item(ExpressionPtr node, int line);
  ExpressionPtr test(ExpressionPtr node);
  ExpressionPtr target_part(bool with_namespace);
  bool is_tuple_end(std::string_view end_name) const;
  void arguments(Expression& node);
  bool take_comparison(Operator& op);
};

}  // namespace plait::jinja
