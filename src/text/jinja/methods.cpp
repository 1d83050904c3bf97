// Methods of lists, dictionaries, numbers, loops and cyclers, and the way to those of str.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "text/jinja/operations.h"
#include "text/jinja/unicode.h"

namespace plait::jinja {
namespace {

using Names = std::initializer_list<std::string_view>;

bool is_one_of(std::string_view name, Names names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Methods that change their object are closed to templates, as in Jinja's immutable sandbox.
bool changes_object(const Value& object, std::string_view name) {
  if (object.is_dict()) return is_one_of(name, {"clear", "pop", "popitem", "setdefault", "update"});
  if (!object.is(Kind::kList)) return false;
  return is_one_of(name, {"append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"});
}

bool has_method(const Value& object, std::string_view name) {
  switch (object.kind()) {
    case Kind::kString:
      return is_string_method(name);
    case Kind::kBytes:
      return name == "decode";
    case Kind::kList:
      return is_one_of(name, {"index", "count", "copy"});
    case Kind::kTuple:
    case Kind::kRange:
      return is_one_of(name, {"index", "count"});
    case Kind::kDict:
      return is_one_of(name, {"get", "items", "keys", "values", "copy"});
    case Kind::kBool:
    case Kind::kInt:
      return is_one_of(name, {"bit_length", "bit_count", "conjugate"});
    case Kind::kFloat:
      return is_one_of(name, {"is_integer", "conjugate"});
    case Kind::kFunction:
      return object.as<Function>().name == "<cycler>" && is_one_of(name, {"next", "reset"});
    default:
      return false;
  }
}

Value call_list_method(Machine& m, const Value& self, std::string_view name, const Arguments& arguments) {
  std::vector<Value> items;
  if (!iterate(m, self, items)) return {};
  if (name == "copy") return bind(m, name, arguments, {}), m.list(std::move(items));
  const bool counts = name == "count";
  const auto bound =
      counts ? bind(m, name, arguments, {"value"}, 1) : bind(m, name, arguments, {"value", "start", "stop"}, 1);
  if (m.failed()) return {};
  std::int64_t begin = 0, end = static_cast<std::int64_t>(items.size());
  if (!counts && bound[1].is_integral()) begin = clamp_index(bound[1].as_int(), end);
  if (!counts && bound[2].is_integral()) end = clamp_index(bound[2].as_int(), end);
  std::int64_t found = 0;
  for (std::int64_t i = begin; i < end; ++i) {
    const bool equal = equals(m, items[static_cast<std::size_t>(i)], bound[0]);
    if (m.failed()) return {};
    if (equal && !counts) return Value::integer(i);
    found += equal;
  }
  if (counts) return Value::integer(found);
  return m.fail(fmt::format("{} is not in {}", repr_of(m, bound[0]), type_name(self)));
}

Value call_dict_method(Machine& m, const Value& self, std::string_view name, const Arguments& arguments) {
  const Dict& dict = self.as<Dict>();
  if (name == "get") {
    const auto bound = bind(m, name, arguments, {"key", "default"}, 1);
    if (m.failed()) return {};
    if (!is_hashable(bound[0])) return m.fail(fmt::format("unhashable type: '{}'", type_name(bound[0])));
    if (const Value* found = dict.find(bound[0])) return *found;
    return bound[1].missing() ? Value::none() : bound[1];
  }
  bind(m, name, arguments, {});
  if (name == "copy") {
    Value copy = m.dict();
    for (const auto& [key, value] : dict.entries) copy.as<Dict>().set(key, value);
    return copy;
  }
  View* view = m.make<View>();
  view->dict = self;
  view->what = name == "keys" ? View::What::kKeys : name == "values" ? View::What::kValues : View::What::kItems;
  return Value(Kind::kView, view);
}

Value call_number_method(Machine& m, const Value& self, std::string_view name, const Arguments& arguments) {
  bind(m, name, arguments, {});
  if (name == "conjugate") return self.is(Kind::kBool) ? Value::integer(self.as_int()) : self;
  if (name == "is_integer")
    return Value::boolean(std::floor(self.as_double()) == self.as_double() && std::isfinite(self.as_double()));
  const std::int64_t value = self.as_int();
  const std::uint64_t magnitude = value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  return Value::integer(name == "bit_length" ? std::bit_width(magnitude) : std::popcount(magnitude));
}

Value call_loop_method(Machine& m, const Value& self, std::string_view name, const Arguments& arguments) {
  Loop& loop = self.as<Loop>();
  if (name == "cycle") {
    if (arguments.positional.empty()) return m.fail("no items for cycling given");
    return arguments.positional[loop.position % arguments.positional.size()];
  }
  bool same = loop.has_changed && loop.last_changed.size() == arguments.positional.size();
  for (std::size_t i = 0; same && i < loop.last_changed.size(); ++i) {
    same = equals(m, loop.last_changed[i], arguments.positional[i]);
  }
  loop.has_changed = true;
  loop.last_changed = arguments.positional;
  return Value::boolean(!same);
}

Value call_cycler_method(const Value& self, std::string_view name) {
  Function& cycler = self.as<Function>();
  if (name == "reset") return cycler.position = 0, Value::none();
  Value current = cycler.items[cycler.position];
  cycler.position = (cycler.position + 1) % cycler.items.size();
  return current;
}

}  // namespace

Value find_method(Machine& machine, const Value& object, std::string_view name) {
  const bool hidden = name.size() > 4 && name.substr(0, 2) == "__" && name.substr(name.size() - 2) == "__";
  const bool known = is_one_of(name, {"__class__", "__init__", "__len__", "__add__", "__doc__", "__dict__", "__eq__"});
  if ((hidden && known) || changes_object(object, name)) {
    return machine.undefined(
        fmt::format("access to attribute {} of '{}' object is unsafe", quoted(name), type_name(object)));
  }
  return has_method(object, name) ? machine.function(std::string(name), object) : Value();
}

Value call_method(Machine& machine, const Function& function, Arguments& arguments) {
  const Value& self = function.self;
  const std::string& name = function.name;
  switch (self.kind()) {
    case Kind::kString:
      return call_string_method(machine, self, name, arguments);
    case Kind::kBytes:
      if (!is_valid_utf8(self.text())) return machine.fail("'utf-8' codec can't decode bytes");
      return machine.string(self.text());
    case Kind::kDict:
      return call_dict_method(machine, self, name, arguments);
    case Kind::kLoop:
      return call_loop_method(machine, self, name, arguments);
    case Kind::kFunction:
      return call_cycler_method(self, name);
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kRange:
      return call_list_method(machine, self, name, arguments);
    default:
      return call_number_method(machine, self, name, arguments);
  }
}

}  // namespace plait::jinja
