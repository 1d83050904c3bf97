// The machine that runs a parsed template: variables, output, limits, and the first error, which stops everything.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/chat_template.h"
#include "text/jinja/ast.h"
#include "text/jinja/lexer.h"

namespace plait::jinja {

struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
};

// Errors stick: after the first one every operation returns a missing value at once, and whoever loops asks failed().
class Machine {
 public:
  Machine(Heap& heap, Names& names, const TemplateLimits& limits, std::string now);

  // Runs the template. False after an error.
  bool run(const Body& body, std::string& output);
  void set_variable(const std::string& name, Value value);

  bool failed() const { return failed_; }
  const Failure& failure() const { return failure_; }
  Value fail(std::string message);        // Keeps the first message, with the line being run.
  Value fail_limit(std::string message);  // The same; a generator does not put it off.
  bool step();                            // Counts one; false after an error or too many.
  bool has_room(std::size_t bytes);       // Before a string or list of that size is made: fails if it is too large.
  int line() const { return line_; }
  const TemplateLimits& limits() const { return limits_; }
  const std::string& now() const { return now_; }
  bool autoescape() const { return autoescape_; }

  Value string(std::string text, bool safe = false);
  Value bytes(std::string data);
  Value list(std::vector<Value> items);
  Value tuple(std::vector<Value> items);
  Value pair(Value first, Value second);
  Value dict();
  Value generator(std::vector<Value> items, std::string type = "generator");
  Value undefined(std::string message);
  Value function(std::string name, Value self = {}, std::vector<Value> items = {});
  template <class T>
  T* make(std::size_t extra_bytes = 0) {
    if (!heap_.has_room(sizeof(T) + extra_bytes)) fail_limit("the template needs too much memory");
    return heap_.make<T>(extra_bytes);
  }

  // Runs `compute`, which fills `items`; an error in it waits until the generator is used.
  template <class Compute>
  Value lazily(Compute compute) {
    if (failed_) return {};
    std::vector<Value> items;
    compute(items);
    Value result = generator(std::move(items));
    if (failed_ && !limit_reached_) postpone_failure(result.as<Generator>());
    return failed_ ? Value() : result;
  }

  Value call(const Value& callee, Arguments& arguments);
  Value call_filter(std::string_view name, Value subject, Arguments& arguments);
  bool call_test(std::string_view name, const Value& subject, Arguments& arguments);

 private:
  enum class Flow { kNormal, kBreak, kContinue };
  class Level;  // One level of nesting, for as long as it lives.

  void postpone_failure(Generator& generator);

  // Expressions (evaluator.cpp).
  Value evaluate(const Expression& node);
  Value evaluate_node(const Expression& node);
  Value evaluate_name(const Expression& node);
  Value evaluate_dict(const Expression& node);
  Value evaluate_logic(const Expression& node);
  Value evaluate_math(const Expression& node);
  Value evaluate_concat(const Expression& node);
  Value evaluate_compare(const Expression& node);
  Value evaluate_conditional(const Expression& node);
  Value evaluate_slice(const Expression& node);
  Value evaluate_call(const Expression& node);
  Value evaluate_filter(const Expression& node, Value subject);
  Value evaluate_test(const Expression& node);
  std::vector<Value> evaluate_all(const std::vector<ExpressionPtr>& parts, std::size_t first = 0);
  bool evaluate_arguments(const Expression& node, Arguments& arguments);

  // Statements (statements.cpp).
  Flow run_body(const Body& body);
  Flow run_statement(const Statement& node);
  Flow run_if(const Statement& node);
  Flow run_for(const Statement& node);
  Flow run_loop(const Statement& node, Value iterable, Value scope, int depth);
  bool loop_items(const Statement& node, const Value& iterable, const Value& scope, std::vector<Value>& items);
  void run_print(const Statement& node);
  void run_set(const Statement& node);
  void run_set_block(const Statement& node);
  void run_call(const Statement& node);
  void run_filter(const Statement& node);
  Flow run_with(const Statement& node);
  Flow run_autoescape(const Statement& node);
  void run_block(const Statement& node);
  void assign(const Expression& target, const Value& value);
  std::string capture(const Body& body, Value scope, Flow& flow);
  Value inner_scope(Value parent);
  Value filtered(const Expression* filters, Value subject);

  // Calls (calls.cpp).
  Value call_macro(const Macro& macro, Arguments& arguments);
  bool bind_macro(const Macro& macro, Arguments& arguments, const Value& scope);
  Value call_loop(const Value& loop, Arguments& arguments);
  void emit(std::string_view text);

  Heap& heap_;
  Names& names_;
  TemplateLimits limits_;
  std::string now_;
  bool failed_ = false;
  bool limit_reached_ = false;
  Failure failure_;
  int line_ = 0;
  std::int64_t steps_ = 0;
  int depth_ = 0;
  int macro_depth_ = 0;
  bool autoescape_ = false;
  Value globals_;  // Scopes: what the engine and the caller set; the template's own; the innermost.
  Value root_;
  Value scope_;
  std::string* output_ = nullptr;
  int loop_id_, caller_id_, varargs_id_, kwargs_id_;
};

// Puts arguments to a function's parameters; those not given are missing. Fails on too many, unknown or absent ones.
std::vector<Value> bind(Machine& machine, std::string_view function, const Arguments& arguments,
                        std::initializer_list<std::string_view> parameters, std::size_t required = 0);

}  // namespace plait::jinja
