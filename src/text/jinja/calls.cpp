// Calls: macros with their rules of binding, recursive loops, and the way to functions and methods.
#include <fmt/format.h>

#include <algorithm>

#include "text/jinja/level.h"
#include "text/jinja/operations.h"

namespace plait::jinja {

Value Machine::call(const Value& callee, Arguments& arguments) {
  if (!step()) return {};
  switch (callee.kind()) {
    case Kind::kUndefined:
      check_defined(*this, callee);
      return {};
    case Kind::kMacro:
      return call_macro(callee.as<Macro>(), arguments);
    case Kind::kLoop:
      return call_loop(callee, arguments);
    case Kind::kFunction: {
      Function& function = callee.as<Function>();
      return function.self.missing() ? call_global(*this, function, arguments)
                                     : call_method(*this, function, arguments);
    }
    default:
      return fail(fmt::format("'{}' object is not callable", type_name(callee)));
  }
}

// Arguments by position, then by name, then defaults, which see the parameters before them.
bool Machine::bind_macro(const Macro& macro, Arguments& arguments, const Value& scope) {
  const MacroNode& node = *macro.node;
  Scope& variables = scope.as<Scope>();
  std::vector<std::pair<std::string, Value>>& named = arguments.named;
  const auto take_named = [&named](std::string_view name) {
    const auto found =
        std::find_if(named.begin(), named.end(), [name](const auto& entry) { return entry.first == name; });
    if (found == named.end()) return Value();
    Value value = std::move(found->second);
    named.erase(found);
    return value;
  };
  const std::size_t count = node.parameters.size(), given = arguments.positional.size();
  std::vector<Value> values(arguments.positional.begin(),
                            arguments.positional.begin() + static_cast<std::ptrdiff_t>(std::min(count, given)));
  for (std::size_t i = values.size(); i < count; ++i) values.push_back(take_named(node.parameter_names[i]));
  const bool explicit_caller =
      std::find(node.parameters.begin(), node.parameters.end(), caller_id_) != node.parameters.end();
  if (node.uses_caller && !explicit_caller) {
    Value caller = take_named("caller");
    variables.set(caller_id_, caller.missing() || caller.is_none() ? undefined("No caller defined") : caller);
  }
  if (node.uses_kwargs) {
    Value rest = dict();
    for (auto& [name, value] : named) rest.as<Dict>().set(string(name), value);
    variables.set(kwargs_id_, rest);
  } else if (!named.empty()) {
    fail(fmt::format("macro {} takes no keyword argument {}", quoted(node.name), quoted(named.front().first)));
  }
  if (node.uses_varargs) {
    const std::size_t taken = std::min(count, given);
    variables.set(varargs_id_, tuple({arguments.positional.begin() + static_cast<std::ptrdiff_t>(taken),
                                      arguments.positional.end()}));
  } else if (given > count) {
    fail(fmt::format("macro {} takes not more than {} argument(s)", quoted(node.name), count));
  }
  const Value outer = std::exchange(scope_, scope);
  const std::size_t first_default = count - node.defaults.size();
  for (std::size_t i = 0; i < count && !failed_; ++i) {
    if (values[i].missing() && i >= first_default) values[i] = evaluate(*node.defaults[i - first_default]);
    if (values[i].missing())
      values[i] = undefined(fmt::format("parameter {} was not provided", quoted(node.parameter_names[i])));
    variables.set(node.parameters[i], values[i]);
  }
  scope_ = outer;
  return !failed_;
}

Value Machine::call_macro(const Macro& macro, Arguments& arguments) {
  if (macro_depth_ >= limits_.depth) return fail_limit("macros call each other too deeply");
  const Value keep_alive = macro.scope;
  const MacroNode& node = *macro.node;
  ++macro_depth_;
  std::string text;
  const Value scope = inner_scope(macro.scope);
  if (bind_macro(macro, arguments, scope)) {
    Flow flow = Flow::kNormal;
    text = capture(node.body, scope, flow);
  }
  --macro_depth_;
  return failed_ ? Value() : string(std::move(text), autoescape_);
}

Value Machine::call_loop(const Value& loop_value, Arguments& arguments) {
  const Loop& loop = loop_value.as<Loop>();
  if (!loop.statement->flag) return fail("the loop must have the 'recursive' marker to be called recursively");
  if (arguments.positional.size() != 1 || !arguments.named.empty()) return fail("loop() takes exactly one argument");
  if (macro_depth_ >= limits_.depth) return fail_limit("loops recurse too deeply");
  ++macro_depth_;
  std::string text;
  std::string* const outer = std::exchange(output_, &text);
  run_loop(*loop.statement, arguments.positional[0], loop.scope, loop.depth + 1);
  output_ = outer;
  --macro_depth_;
  return failed_ ? Value() : string(std::move(text), autoescape_);
}

}  // namespace plait::jinja
