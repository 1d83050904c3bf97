// Statements: output, control flow, assignment, scopes.
#include <fmt/format.h>

#include "text/jinja/level.h"
#include "text/jinja/operations.h"

namespace plait::jinja {

Value Machine::inner_scope(Value parent) {
  Scope* scope = make<Scope>();
  scope->parent = std::move(parent);
  return Value(Kind::kScope, scope);
}

void Machine::emit(std::string_view text) {
  if (failed_) return;
  if (output_->size() + text.size() > limits_.output_bytes) {
    fail_limit(fmt::format("more than {} bytes of text", limits_.output_bytes));
    return;
  }
  output_->append(text);
}

Machine::Flow Machine::run_body(const Body& body) {
  for (const StatementPtr& node : body) {
    if (failed_) break;
    const Flow flow = run_statement(*node);
    if (flow != Flow::kNormal) return flow;
  }
  return Flow::kNormal;
}

Machine::Flow Machine::run_statement(const Statement& node) {
  const Level level(*this);
  if (!step()) return Flow::kNormal;
  line_ = node.line;
  switch (node.kind) {
    case StatementKind::kText:
      emit(node.text);
      break;
    case StatementKind::kPrint:
      run_print(node);
      break;
    case StatementKind::kFor:
      return run_for(node);
    case StatementKind::kIf:
      return run_if(node);
    case StatementKind::kSet:
      run_set(node);
      break;
    case StatementKind::kSetBlock:
      run_set_block(node);
      break;
    case StatementKind::kMacro: {
      Macro* macro = make<Macro>();
      macro->node = &node.macro;
      macro->scope = scope_;
      scope_.as<Scope>().set(node.macro.name_id, Value(Kind::kMacro, macro));
      break;
    }
    case StatementKind::kCall:
      run_call(node);
      break;
    case StatementKind::kGeneration: {
      Flow flow = Flow::kNormal;
      emit(capture(node.body, inner_scope(scope_), flow));
      return flow;
    }
    case StatementKind::kFilter:
      run_filter(node);
      break;
    case StatementKind::kWith:
      return run_with(node);
    case StatementKind::kAutoescape:
      return run_autoescape(node);
    case StatementKind::kBlock:
      run_block(node);
      break;
    case StatementKind::kLoader:
      fail(fmt::format("{}: there are no other templates to load", node.text));
      break;
    case StatementKind::kBreak:
      return Flow::kBreak;
    case StatementKind::kContinue:
      return Flow::kContinue;
  }
  return Flow::kNormal;
}

void Machine::run_print(const Statement& node) {
  const Value value = evaluate(*node.value);
  if (failed_) return;
  const bool is_safe = value.is_string() && value.as<String>().safe;
  if (autoescape_ && !is_safe) {
    emit(escape_html(text_of(*this, value)));
  } else if (value.is_string()) {
    emit(value.text());
  } else {
    emit(text_of(*this, value));
  }
}

Machine::Flow Machine::run_if(const Statement& node) {
  for (const Branch& branch : node.branches) {
    const Value test = evaluate(*branch.test);
    if (failed_) return Flow::kNormal;
    if (truth(test)) return run_body(branch.body);
  }
  return run_body(node.otherwise);
}

Machine::Flow Machine::run_for(const Statement& node) {
  Value iterable = evaluate(*node.value);
  if (failed_) return Flow::kNormal;
  return run_loop(node, std::move(iterable), scope_, 1);
}

// The items that pass the loop's own `if`, whose variables are those of the loop.
bool Machine::loop_items(const Statement& node, const Value& iterable, const Value& scope, std::vector<Value>& items) {
  std::vector<Value> all;
  if (!iterate(*this, iterable, all)) return false;
  if (!node.test) {
    items = std::move(all);
    return true;
  }
  for (Value& candidate : all) {
    scope_ = inner_scope(scope);
    assign(*node.target, candidate);
    const Value test = failed_ ? Value() : evaluate(*node.test);
    scope_ = scope;
    if (failed_) return false;
    if (truth(test)) items.push_back(std::move(candidate));
  }
  return true;
}

Machine::Flow Machine::run_loop(const Statement& node, Value iterable, Value scope, int depth) {
  const Value outer = scope_;
  Loop* loop = make<Loop>();
  const Value loop_value(Kind::kLoop, loop);
  if (!loop_items(node, iterable, scope, loop->items)) return scope_ = outer, Flow::kNormal;
  loop->statement = &node;
  loop->scope = scope;
  loop->depth = depth;
  Flow flow = Flow::kNormal;
  for (loop->position = 0; loop->position < loop->items.size() && !failed_; ++loop->position) {
    if (!step()) break;
    scope_ = inner_scope(scope);
    assign(*node.target, loop->items[loop->position]);
    scope_.as<Scope>().set(loop_id_, loop_value);
    flow = run_body(node.body);
    if (flow == Flow::kBreak) break;
  }
  scope_ = scope;
  flow = Flow::kNormal;
  if (loop->items.empty() && !failed_) {
    scope_ = inner_scope(scope);
    flow = run_body(node.otherwise);
  }
  scope_ = outer;
  return flow;
}

void Machine::assign(const Expression& target, const Value& value) {
  if (failed_) return;
  if (target.kind == ExpressionKind::kName) {
    scope_.as<Scope>().set(target.name_id, value);
    return;
  }
  if (target.kind == ExpressionKind::kNamespaceTarget) {
    const Value* found = scope_.as<Scope>().find(target.name_id);
    if (!found || !found->is(Kind::kNamespace)) {
      fail("cannot assign attribute on non-namespace object");
      return;
    }
    const Value space = *found;
    space.as<Namespace>().attributes.as<Dict>().set(string(target.text), value);
    return;
  }
  std::vector<Value> items;
  if (!has_iterator(value)) {
    fail(fmt::format("cannot unpack non-iterable {} object", type_name(value)));
    return;
  }
  if (!iterate(*this, value, items)) return;
  const std::size_t wanted = target.parts.size();
  if (items.size() > wanted) {
    fail(fmt::format("too many values to unpack (expected {})", wanted));
  } else if (items.size() < wanted) {
    fail(fmt::format("not enough values to unpack (expected {}, got {})", wanted, items.size()));
  }
  for (std::size_t i = 0; i < wanted && !failed_; ++i) assign(*target.parts[i], items[i]);
}

void Machine::run_set(const Statement& node) {
  const Value value = evaluate(*node.value);
  if (!failed_) line_ = node.line;
  assign(*node.target, value);
}

// What the body prints, instead of printing it.
std::string Machine::capture(const Body& body, Value scope, Flow& flow) {
  std::string text;
  std::string* const outer_output = std::exchange(output_, &text);
  const Value outer_scope = std::exchange(scope_, std::move(scope));
  flow = run_body(body);
  output_ = outer_output;
  scope_ = outer_scope;
  return text;
}

Value Machine::filtered(const Expression* filters, Value subject) {
  if (!filters || failed_) return subject;
  if (filters->parts[0]) subject = filtered(filters->parts[0].get(), std::move(subject));
  return evaluate_filter(*filters, std::move(subject));
}

void Machine::run_set_block(const Statement& node) {
  Flow flow = Flow::kNormal;
  std::string text = capture(node.body, inner_scope(scope_), flow);
  if (failed_) return;
  const Value value = filtered(node.value.get(), string(std::move(text), autoescape_));
  assign(*node.target, value);
}

void Machine::run_filter(const Statement& node) {
  Flow flow = Flow::kNormal;
  std::string text = capture(node.body, inner_scope(scope_), flow);
  if (failed_) return;
  const Value value = filtered(node.value.get(), string(std::move(text), autoescape_));
  if (!failed_) emit(text_of(*this, value));
}

Machine::Flow Machine::run_with(const Statement& node) {
  const std::vector<Value> values = evaluate_all(node.values);
  if (failed_) return Flow::kNormal;
  const Value outer = scope_;
  scope_ = inner_scope(outer);
  for (std::size_t i = 0; i < values.size(); ++i) assign(*node.targets[i], values[i]);
  const Flow flow = run_body(node.body);
  scope_ = outer;
  return flow;
}

Machine::Flow Machine::run_autoescape(const Statement& node) {
  const Value on = evaluate(*node.value);
  if (failed_) return Flow::kNormal;
  const bool before = std::exchange(autoescape_, truth(on));
  const Value outer = scope_;
  scope_ = inner_scope(outer);
  const Flow flow = run_body(node.body);
  scope_ = outer;
  autoescape_ = before;
  return flow;
}

// A block sees the template's variables, not those of the loops around it.
void Machine::run_block(const Statement& node) {
  const Value outer = scope_;
  scope_ = inner_scope(node.flag ? outer : root_);
  run_body(node.body);
  scope_ = outer;
}

void Machine::run_call(const Statement& node) {
  Macro* macro = make<Macro>();
  macro->node = &node.macro;
  macro->scope = scope_;
  const Value caller(Kind::kMacro, macro);
  const Value callee = evaluate(*node.value->parts[0]);
  Arguments arguments;
  if (failed_ || !evaluate_arguments(*node.value, arguments)) return;
  arguments.named.emplace_back("caller", caller);
  line_ = node.line;
  const Value result = call(callee, arguments);
  if (!failed_) emit(text_of(*this, result));
}

}  // namespace plait::jinja
