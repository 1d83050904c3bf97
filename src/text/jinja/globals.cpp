// The functions that templates find: Jinja's own, and the two that chat templates add.
#include <fmt/format.h>

#include "text/jinja/clock.h"
#include "text/jinja/operations.h"

namespace plait::jinja {
namespace {

constexpr std::int64_t kLongestRange = 100'000;  // As Jinja's sandbox.

Value make_range(Machine& m, const Arguments& arguments) {
  const std::size_t count = arguments.positional.size();
  if (count < 1 || count > 3 || !arguments.named.empty())
    return m.fail(fmt::format("range expected 1 to 3 arguments, got {}", count));
  std::int64_t numbers[3] = {0, 0, 1};
  for (std::size_t i = 0; i < count; ++i) {
    const auto number = integer_argument(m, arguments.positional[i], "range: an argument");
    if (!number) return {};
    numbers[count == 1 ? 1 : i] = *number;
  }
  if (numbers[2] == 0) return m.fail("range() arg 3 must not be zero");
  std::int64_t span = 0;
  const bool overflows = __builtin_sub_overflow(numbers[1], numbers[0], &span) || span > INT64_MAX / 2 ||
                         span < INT64_MIN / 2 || numbers[2] < -INT64_MAX;
  Range range;
  range.start = numbers[0], range.stop = numbers[1], range.step = numbers[2];
  if (overflows || range.length() > kLongestRange) {
    return m.fail(fmt::format("range too big; ranges larger than {} are not allowed", kLongestRange));
  }
  Range* object = m.make<Range>();
  object->start = range.start, object->stop = range.stop, object->step = range.step;
  return Value(Kind::kRange, object);
}

// dict(mapping or pairs, key=value)
Value make_dict(Machine& m, const Arguments& arguments, std::string_view function) {
  Value result = m.dict();
  Dict& dict = result.as<Dict>();
  if (arguments.positional.size() > 1)
    return m.fail(fmt::format("{} expected at most 1 argument, got {}", function, arguments.positional.size()));
  if (!arguments.positional.empty()) {
    const Value& source = arguments.positional[0];
    if (source.is_dict()) {
      for (const auto& [key, value] : source.as<Dict>().entries) dict.set(key, value);
    } else {
      std::vector<Value> pairs;
      if (!iterate(m, source, pairs)) return {};
      for (const Value& entry : pairs) {
        std::vector<Value> parts;
        if (!iterate(m, entry, parts)) return {};
        if (parts.size() != 2) return m.fail(fmt::format("{}: each element must be a pair", function));
        if (!is_hashable(parts[0])) return m.fail(fmt::format("unhashable type: '{}'", type_name(parts[0])));
        dict.set(parts[0], parts[1]);
      }
    }
  }
  for (const auto& [name, value] : arguments.named) dict.set(m.string(name), value);
  return result;
}

Value make_namespace(Machine& m, const Arguments& arguments) {
  Value attributes = make_dict(m, arguments, "namespace");
  if (m.failed()) return {};
  Namespace* space = m.make<Namespace>();
  space->attributes = std::move(attributes);
  return Value(Kind::kNamespace, space);
}

Value raise_exception(Machine& m, const Arguments& arguments) {
  const auto bound = bind(m, "raise_exception", arguments, {"message"}, 1);
  return m.failed() ? Value() : m.fail(text_of(m, bound[0]));
}

Value strftime_now(Machine& m, const Arguments& arguments) {
  const auto bound = bind(m, "strftime_now", arguments, {"format"}, 1);
  if (m.failed() || !string_argument(m, bound[0], "strftime_now: format")) return {};
  if (!m.has_room(bound[0].text().size() * 16)) return {};
  return m.string(format_time(bound[0].text(), m.now()));
}

}  // namespace

Value call_global(Machine& m, Function& function, Arguments& arguments) {
  const std::string& name = function.name;
  if (name == "range") return make_range(m, arguments);
  if (name == "dict") return make_dict(m, arguments, "dict");
  if (name == "namespace") return make_namespace(m, arguments);
  if (name == "raise_exception") return raise_exception(m, arguments);
  if (name == "strftime_now") return strftime_now(m, arguments);
  if (name == "cycler") {
    if (arguments.positional.empty()) return m.fail("at least one item has to be provided");
    return m.function("<cycler>", {}, arguments.positional);
  }
  if (name == "joiner") {
    const auto bound = bind(m, "joiner", arguments, {"sep"});
    return m.failed() ? Value() : m.function("<joiner>", {}, {bound[0].missing() ? m.string(", ") : bound[0]});
  }
  if (name == "<joiner>") return function.position++ == 0 ? m.string("") : function.items[0];
  if (name == "<cycler>") return m.fail("'Cycler' object is not callable");
  return m.fail(fmt::format("the function '{}' is not supported", name));
}

}  // namespace plait::jinja
