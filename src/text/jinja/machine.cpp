// The machine's state: errors, limits, and the making of values.
#include "text/jinja/machine.h"

#include <fmt/format.h>

namespace plait::jinja {

Machine::Machine(Heap& heap, Names& names, const TemplateLimits& limits, std::string now)
    : heap_(heap), names_(names), limits_(limits), now_(std::move(now)) {
  globals_ = Value(Kind::kScope, heap_.make<Scope>());
  root_ = inner_scope(globals_);
  scope_ = root_;
  loop_id_ = names_.id("loop");
  caller_id_ = names_.id("caller");
  varargs_id_ = names_.id("varargs");
  kwargs_id_ = names_.id("kwargs");
  for (const char* name :
       {"range", "dict", "lipsum", "cycler", "joiner", "namespace", "raise_exception", "strftime_now", "self"}) {
    set_variable(name, function(name));
  }
}

void Machine::set_variable(const std::string& name, Value value) {
  globals_.as<Scope>().set(names_.id(name), std::move(value));
}

bool Machine::run(const Body& body, std::string& output) {
  output_ = &output;
  run_body(body);
  return !failed_;
}

Value Machine::fail(std::string message) {
  if (!failed_) failure_ = {std::move(message), line_};
  failed_ = true;
  return {};
}

Value Machine::fail_limit(std::string message) {
  if (!failed_) limit_reached_ = true;
  return fail(std::move(message));
}

bool Machine::step() {
  if (failed_) return false;
  if (++steps_ > limits_.steps) fail_limit(fmt::format("more than {} steps", limits_.steps));
  return !failed_;
}

bool Machine::has_room(std::size_t bytes) {
  if (failed_) return false;
  if (bytes > limits_.output_bytes || !heap_.has_room(bytes)) {
    fail_limit(fmt::format("a value of {} bytes is too large", bytes));
  }
  return !failed_;
}

void Machine::postpone_failure(Generator& generator) {
  generator.error = std::move(failure_.message);
  generator.error_line = failure_.line;
  failed_ = false;
  failure_ = {};
}

Value Machine::string(std::string text, bool safe) {
  if (text.size() > limits_.output_bytes) fail_limit("a string is too large");
  String* object = make<String>(text.size());
  object->text = std::move(text);
  object->safe = safe;
  return Value(Kind::kString, object);
}

Value Machine::bytes(std::string data) {
  String* object = make<String>(data.size());
  object->text = std::move(data);
  return Value(Kind::kBytes, object);
}

Value Machine::list(std::vector<Value> items) {
  List* object = make<List>(items.size() * sizeof(Value));
  object->items = std::move(items);
  return Value(Kind::kList, object);
}

Value Machine::tuple(std::vector<Value> items) {
  List* object = make<List>(items.size() * sizeof(Value));
  object->items = std::move(items);
  return Value(Kind::kTuple, object);
}

Value Machine::pair(Value first, Value second) {
  std::vector<Value> items;
  items.push_back(std::move(first));
  items.push_back(std::move(second));
  return tuple(std::move(items));
}

Value Machine::dict() { return Value(Kind::kDict, make<Dict>()); }

Value Machine::generator(std::vector<Value> items, std::string type) {
  Generator* object = make<Generator>(items.size() * sizeof(Value));
  object->items = std::move(items);
  object->type_name = std::move(type);
  return Value(Kind::kGenerator, object);
}

Value Machine::undefined(std::string message) {
  Undefined* object = make<Undefined>(message.size());
  object->message = std::move(message);
  return Value(Kind::kUndefined, object);
}

Value Machine::function(std::string name, Value self, std::vector<Value> items) {
  Function* object = make<Function>(items.size() * sizeof(Value));
  object->name = std::move(name);
  object->self = std::move(self);
  object->items = std::move(items);
  return Value(Kind::kFunction, object);
}

std::vector<Value> bind(Machine& machine, std::string_view function, const Arguments& arguments,
                        std::initializer_list<std::string_view> parameters, std::size_t required) {
  std::vector<Value> bound(parameters.size());
  if (arguments.positional.size() > parameters.size()) {
    machine.fail(fmt::format("{}() takes at most {} arguments ({} given)", function, parameters.size(),
                             arguments.positional.size()));
    return bound;
  }
  for (std::size_t i = 0; i < arguments.positional.size(); ++i) bound[i] = arguments.positional[i];
  for (const auto& [name, value] : arguments.named) {
    std::size_t place = 0;
    while (place < parameters.size() && parameters.begin()[place] != name) ++place;
    if (place == parameters.size()) {
      machine.fail(fmt::format("{}() got an unexpected keyword argument '{}'", function, name));
    } else if (!bound[place].missing()) {
      machine.fail(fmt::format("{}() got multiple values for argument '{}'", function, name));
    } else {
      bound[place] = value;
    }
  }
  for (std::size_t i = 0; i < required; ++i) {
    if (bound[i].missing()) {
      machine.fail(fmt::format("{}() missing required argument '{}'", function, parameters.begin()[i]));
    }
  }
  return bound;
}

}  // namespace plait::jinja
