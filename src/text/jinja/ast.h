// The syntax tree of a template. Chains of one precedence are flat, so that depth is true nesting.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "text/jinja/value.h"

namespace plait::jinja {

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;

enum class ExpressionKind {
  kConstant,
  kName,
  kNamespaceTarget,  // ns.x on the left of set: `name` and `name_id` for ns, `text` for x.
  kList,
  kTuple,
  kDict,  // key, value, key, value, ...
  kNot,
  kNegative,
  kPositive,
  kAnd,
  kOr,
  kMath,  // first (operator operand)*, from the left; the operators in `operators`
  kConcat,
  kCompare,      // first (operator operand)*, all must hold
  kConditional,  // then, condition, else (may be null)
  kAttribute,    // object.text
  kItem,         // object[parts[1]]
  kSlice,        // object[parts[1]:parts[2]:parts[3]], any of which may be null
  kCall,         // parts[0](parts[1], ..., keywords, *star, **star_star)
  kFilter,       // parts[0]|text(...); parts[0] is null in a filter block
  kTest,         // parts[0] is text(...)
};

enum class Operator {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kFloorDivide,
  kModulo,
  kPower,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kIn,
  kNotIn
};

struct Keyword {
  std::string name;
  ExpressionPtr value;
};

struct Expression {
  ExpressionKind kind;
  int line = 0;
  int height = 1;  // Levels of the tree below and with this one.
  int name_id = -1;
  std::string text;
  Value constant;
  std::vector<ExpressionPtr> parts;
  std::vector<Operator> operators;
  std::vector<Keyword> keywords;
  ExpressionPtr star, star_star;
};

struct Statement;
using StatementPtr = std::unique_ptr<Statement>;
using Body = std::vector<StatementPtr>;

enum class StatementKind {
  kText,
  kPrint,       // value
  kFor,         // for target in value if test: body, else otherwise
  kIf,          // branches, else otherwise
  kSet,         // target = value
  kSetBlock,    // target = body, through the filters of value (may be null)
  kMacro,       // macro
  kCall,        // value is the call, macro its caller
  kGeneration,  // body in a scope of its own
  kFilter,      // body through the filters of value
  kWith,        // targets = values: body
  kAutoescape,  // value: body
  kBlock,       // body, seeing the template's variables, or (scoped) all
  kLoader,      // extends, include, import: there is nothing to load from
  kBreak,
  kContinue,
};

struct MacroNode {
  std::string name;
  int name_id = -1;
  int line = 0;
  std::vector<int> parameters;
  std::vector<std::string> parameter_names;
  std::vector<ExpressionPtr> defaults;  // Of the last parameters.
  bool uses_caller = false, uses_varargs = false, uses_kwargs = false;
  Body body;
};

struct Branch {
  ExpressionPtr test;
  Body body;
};

struct Statement {
  StatementKind kind;
  int line = 0;
  std::string text;
  ExpressionPtr target, value, test;
  std::vector<ExpressionPtr> targets, values;
  std::vector<Branch> branches;
  Body body, otherwise;
  MacroNode macro;
  bool flag = false;  // for: recursive; block: scoped
};

// The numbers of names, so that scopes compare integers.
class Names {
 public:
  int id(const std::string& name) { return ids_.emplace(name, static_cast<int>(ids_.size())).first->second; }
  const std::unordered_map<std::string, int>& all() const { return ids_; }

 private:
  std::unordered_map<std::string, int> ids_;
};

}  // namespace plait::jinja
