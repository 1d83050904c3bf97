// Reaching into values: attributes, items, slices, length and iteration.
#include <fmt/format.h>

#include <algorithm>

#include "text/jinja/operations.h"
#include "text/jinja/unicode.h"

namespace plait::jinja {
namespace {

std::string object_name(const Value& value) { return value.is_none() ? "None" : type_name(value) + " object"; }

Value no_attribute(Machine& machine, const Value& object, std::string_view name) {
  return machine.undefined(fmt::format("'{}' has no attribute {}", object_name(object), quoted(name)));
}

std::int64_t string_length(const Value& value) {
  String& string = value.as<String>();
  if (string.length < 0) string.length = count_code_points(string.text);
  return string.length;
}

bool is_plain(const Value& value) { return string_length(value) == static_cast<std::int64_t>(value.text().size()); }

Value loop_attribute(Machine& machine, const Loop& loop, std::string_view name, const Value& self) {
  const auto number = [](std::size_t value) { return Value::integer(static_cast<std::int64_t>(value)); };
  if (name == "index") return number(loop.position + 1);
  if (name == "index0") return number(loop.position);
  if (name == "revindex") return number(loop.items.size() - loop.position);
  if (name == "revindex0") return number(loop.items.size() - loop.position - 1);
  if (name == "first") return Value::boolean(loop.position == 0);
  if (name == "last") return Value::boolean(loop.position + 1 == loop.items.size());
  if (name == "length") return number(loop.items.size());
  if (name == "depth") return Value::integer(loop.depth);
  if (name == "depth0") return Value::integer(loop.depth - 1);
  if (name == "previtem") {
    return loop.position == 0 ? machine.undefined("there is no previous item") : loop.items[loop.position - 1];
  }
  if (name == "nextitem") {
    return loop.position + 1 >= loop.items.size() ? machine.undefined("there is no next item")
                                                  : loop.items[loop.position + 1];
  }
  if (name == "cycle" || name == "changed") return machine.function(std::string(name), self);
  return {};
}

Value macro_attribute(Machine& machine, const MacroNode& node, std::string_view name) {
  if (name == "name") return machine.string(node.name);
  if (name == "catch_kwargs") return Value::boolean(node.uses_kwargs);
  if (name == "catch_varargs") return Value::boolean(node.uses_varargs);
  if (name == "caller") return Value::boolean(node.uses_caller);
  if (name != "arguments") return {};
  std::vector<Value> names;
  for (const std::string& parameter : node.parameter_names) names.push_back(machine.string(parameter));
  return machine.tuple(std::move(names));
}

// What Python's getattr finds: fields and methods, not items. Missing if there is nothing.
Value own_attribute(Machine& machine, const Value& object, std::string_view name) {
  switch (object.kind()) {
    case Kind::kNamespace: {
      const Value* found = object.as<Namespace>().attributes.as<Dict>().find(name);
      return found ? *found : Value();
    }
    case Kind::kLoop:
      return loop_attribute(machine, object.as<Loop>(), name, object);
    case Kind::kMacro:
      return macro_attribute(machine, *object.as<Macro>().node, name);
    case Kind::kTuple:
      if (object.as<List>().is_group && name == "grouper") return object.items()[0];
      if (object.as<List>().is_group && name == "list") return object.items()[1];
      break;
    case Kind::kRange:
      if (name == "start") return Value::integer(object.as<Range>().start);
      if (name == "stop") return Value::integer(object.as<Range>().stop);
      if (name == "step") return Value::integer(object.as<Range>().step);
      break;
    case Kind::kBool:
    case Kind::kInt:
      if (name == "real" || name == "numerator") return Value::integer(object.as_int());
      if (name == "imag") return Value::integer(0);
      if (name == "denominator") return Value::integer(1);
      break;
    case Kind::kFloat:
      if (name == "real") return object;
      if (name == "imag") return Value::real(0);
      break;
    case Kind::kFunction: {
      Function& function = object.as<Function>();
      if (function.name == "<cycler>" && name == "current") return function.items[function.position];
      break;
    }
    default:
      break;
  }
  return find_method(machine, object, name);
}

Value own_item(Machine& machine, const Value& object, const Value& key) {
  if (object.is_dict()) {
    if (!is_hashable(key)) return {};
    const Value* found = object.as<Dict>().find(key);
    return found ? *found : Value();
  }
  if (!key.is_integral()) return {};
  const bool counted = object.is_string() || object.is_sequence() || object.is(Kind::kRange) || object.is(Kind::kBytes);
  if (!counted) return {};
  const std::int64_t length =
      object.is(Kind::kBytes) ? static_cast<std::int64_t>(object.text().size()) : length_of(machine, object);
  const std::int64_t place = key.as_int() < 0 ? key.as_int() + length : key.as_int();
  if (place < 0 || place >= length) return {};
  const std::size_t at = static_cast<std::size_t>(place);
  if (object.is_sequence()) return object.items()[at];
  if (object.is(Kind::kRange)) return Value::integer(object.as<Range>().start + place * object.as<Range>().step);
  if (object.is(Kind::kBytes)) return Value::integer(static_cast<unsigned char>(object.text()[at]));
  if (is_plain(object)) return machine.string(object.text().substr(at, 1));
  std::size_t byte = 0;
  for (std::size_t i = 0; i < at; ++i) byte += code_point_bytes(object.text()[byte]);
  return machine.string(object.text().substr(byte, code_point_bytes(object.text()[byte])));
}

}  // namespace

bool check_defined(Machine& machine, const Value& value) {
  if (!value.is_undefined()) return !machine.failed();
  machine.fail(value.as<Undefined>().message);
  return false;
}

Value attribute(Machine& machine, const Value& object, std::string_view name) {
  if (machine.failed() || !check_defined(machine, object)) return {};
  Value found = own_attribute(machine, object, name);
  if (!found.missing() || machine.failed()) return found;
  if (object.is_dict()) {
    if (const Value* value = object.as<Dict>().find(name)) return *value;
  }
  return no_attribute(machine, object, name);
}

Value field(Machine& machine, const Value& object, std::string_view name) {
  Value found = own_attribute(machine, object, name);
  return found.missing() && !machine.failed() ? no_attribute(machine, object, name) : found;
}

Value item(Machine& machine, const Value& object, const Value& key) {
  if (machine.failed() || !check_defined(machine, object)) return {};
  Value found = own_item(machine, object, key);
  if (!found.missing() || machine.failed()) return found;
  if (key.is_string()) {
    found = own_attribute(machine, object, key.text());
    return found.missing() && !machine.failed() ? no_attribute(machine, object, key.text()) : found;
  }
  return machine.undefined(fmt::format("{} has no element {}", object_name(object), repr_of(machine, key)));
}

std::int64_t clamp_index(std::int64_t index, std::int64_t length) {
  if (index < 0) index = index < -length ? 0 : index + length;
  return index > length ? length : index;
}

namespace {

// The places a slice takes, in order. False after an error.
bool slice_places(Machine& machine, std::int64_t length, const Value* bounds, std::vector<std::size_t>& places) {
  std::int64_t numbers[3] = {0, 0, 1};
  for (int i = 0; i < 3; ++i) {
    if (bounds[i].missing() || bounds[i].is_none()) continue;
    if (!bounds[i].is_integral()) {
      machine.fail("slice indices must be integers or None or have an __index__ method");
      return false;
    }
    numbers[i] = bounds[i].as_int();
  }
  const auto given = [bounds](int i) { return !bounds[i].missing() && !bounds[i].is_none(); };
  const std::int64_t step = numbers[2];
  if (step == 0) return machine.fail("slice step cannot be zero"), false;
  const std::int64_t low = step < 0 ? -1 : 0, high = step < 0 ? length - 1 : length;
  const auto bound = [&](int i, std::int64_t fallback) {
    if (!given(i)) return fallback;
    const std::int64_t index = numbers[i] < 0 ? (numbers[i] < -length ? low : numbers[i] + length) : numbers[i];
    return std::min(std::max(index, low), high);
  };
  const std::int64_t start = bound(0, step < 0 ? high : low), stop = bound(1, step < 0 ? low : high);
  const std::int64_t span = step > 0 ? stop - start : start - stop;
  const std::uint64_t stride = step > 0 ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
  if (span <= 0) return true;
  const std::uint64_t count = (static_cast<std::uint64_t>(span) - 1) / stride + 1;
  if (!machine.has_room(count * sizeof(std::size_t))) return false;
  std::int64_t place = start;
  for (std::uint64_t i = 0; i < count; ++i) {
    places.push_back(static_cast<std::size_t>(place));
    if (i + 1 < count) place += step;
  }
  return true;
}

}  // namespace

Value slice(Machine& machine, const Value& object, const Value& start, const Value& stop, const Value& step) {
  if (machine.failed() || !check_defined(machine, object)) return {};
  if (object.is_dict()) return machine.fail("unhashable type: 'slice'");
  if (!object.is_string() && !object.is_sequence() && !object.is(Kind::kRange)) {
    return machine.fail(fmt::format("'{}' object is not subscriptable", type_name(object)));
  }
  const Value bounds[3] = {start, stop, step};
  std::vector<std::size_t> places;
  if (!slice_places(machine, length_of(machine, object), bounds, places)) return {};
  if (object.is_string()) {
    std::string text;
    if (is_plain(object)) {
      for (const std::size_t place : places) text += object.text()[place];
    } else {
      const std::u32string points = to_code_points(object.text());
      for (const std::size_t place : places) append_code_point(text, points[place]);
    }
    return machine.string(std::move(text), object.as<String>().safe);
  }
  std::vector<Value> items;
  for (const std::size_t place : places) {
    items.push_back(object.is_sequence() ? object.items()[place]
                                         : own_item(machine, object, Value::integer(static_cast<std::int64_t>(place))));
  }
  return object.is(Kind::kTuple) ? machine.tuple(std::move(items)) : machine.list(std::move(items));
}

std::int64_t length_of(Machine& machine, const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
      return 0;
    case Kind::kString:
      return string_length(value);
    case Kind::kBytes:
      return static_cast<std::int64_t>(value.text().size());
    case Kind::kList:
    case Kind::kTuple:
      return static_cast<std::int64_t>(value.items().size());
    case Kind::kDict:
      return static_cast<std::int64_t>(value.as<Dict>().entries.size());
    case Kind::kView:
      return length_of(machine, value.as<View>().dict);
    case Kind::kRange:
      return value.as<Range>().length();
    case Kind::kLoop:
      return static_cast<std::int64_t>(value.as<Loop>().items.size());
    default:
      machine.fail(fmt::format("object of type '{}' has no len()", type_name(value)));
      return 0;
  }
}

bool has_iterator(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kDict:
    case Kind::kView:
    case Kind::kRange:
    case Kind::kGenerator:
      return true;
    default:
      return false;
  }
}

namespace {

bool iterate_string(Machine& machine, const std::string& text, std::vector<Value>& items) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = code_point_bytes(text[at]);
    items.push_back(machine.string(text.substr(at, length)));
    at += length;
    if (!machine.step()) return false;
  }
  return true;
}

bool iterate_view(Machine& machine, const View& view, std::vector<Value>& items) {
  for (const auto& [key, value] : view.dict.as<Dict>().entries) {
    if (view.what == View::What::kKeys) items.push_back(key);
    if (view.what == View::What::kValues) items.push_back(value);
    if (view.what == View::What::kItems) items.push_back(machine.pair(key, value));
    if (!machine.step()) return false;
  }
  return true;
}

bool iterate_generator(Machine& machine, Generator& generator, std::vector<Value>& items) {
  for (; generator.next_item < generator.items.size(); ++generator.next_item) {
    items.push_back(generator.items[generator.next_item]);
  }
  if (generator.error.empty()) return true;
  machine.fail(generator.error);
  return false;
}

}  // namespace

bool iterate(Machine& machine, const Value& value, std::vector<Value>& items) {
  if (!machine.step()) return false;
  switch (value.kind()) {
    case Kind::kUndefined:
      return true;
    case Kind::kString:
      return iterate_string(machine, value.text(), items);
    case Kind::kList:
    case Kind::kTuple:
      if (!machine.has_room(value.items().size() * sizeof(Value))) return false;
      items = value.items();
      return true;
    case Kind::kDict:
      for (const auto& entry : value.as<Dict>().entries) items.push_back(entry.first);
      return true;
    case Kind::kView:
      return iterate_view(machine, value.as<View>(), items);
    case Kind::kRange: {
      const Range& range = value.as<Range>();
      const std::int64_t length = range.length();
      for (std::int64_t i = 0; i < length; ++i) items.push_back(Value::integer(range.start + i * range.step));
      return true;
    }
    case Kind::kBytes:
      for (const char c : value.text()) items.push_back(Value::integer(static_cast<unsigned char>(c)));
      return true;
    case Kind::kGenerator:
      return iterate_generator(machine, value.as<Generator>(), items);
    default:
      machine.fail(fmt::format("'{}' object is not iterable", type_name(value)));
      return false;
  }
}

std::optional<std::int64_t> integer_argument(Machine& machine, const Value& value, std::string_view what) {
  if (value.is_integral()) return value.as_int();
  if (check_defined(machine, value)) machine.fail(fmt::format("{} must be an integer, not {}", what, type_name(value)));
  return std::nullopt;
}

bool string_argument(Machine& machine, const Value& value, std::string_view what) {
  if (value.is_string()) return !machine.failed();
  if (check_defined(machine, value)) machine.fail(fmt::format("{} must be str, not {}", what, type_name(value)));
  return false;
}

}  // namespace plait::jinja
