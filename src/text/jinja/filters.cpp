// Filters by name.
#include "text/jinja/filters.h"

#include <fmt/format.h>

#include <charconv>

#include "text/jinja/unicode.h"

namespace plait::jinja {
namespace {

const Filter* find_filter(std::string_view name) {
  for (const auto& list : {text_filters(), number_filters(), sequence_filters(), selection_filters()}) {
    for (const Filter& filter : list) {
      if (filter.name == name) return &filter;
    }
  }
  return nullptr;
}

}  // namespace

bool is_filter(std::string_view name) { return find_filter(name) != nullptr; }

Value Machine::call_filter(std::string_view name, Value subject, Arguments& arguments) {
  if (!step()) return {};
  const Filter* filter = find_filter(name);
  if (!filter) return fail(fmt::format("no filter named {}", quoted(name)));
  Value result = filter->run(*this, subject, arguments);
  return failed_ ? Value() : result;
}

Value follow(Machine& machine, const Value& value, const Value& path, const Value& fallback) {
  if (path.missing() || path.is_none()) return value;
  const auto step_to = [&](const Value& from, const Value& part) {
    Value next = item(machine, from, part);
    return next.is_undefined() && !fallback.missing() && !fallback.is_none() ? fallback : next;
  };
  if (!path.is_string()) return step_to(value, path);
  Value current = value;
  std::string_view rest = path.text();
  while (!machine.failed()) {
    const std::size_t dot = rest.find('.');
    const std::string_view part = rest.substr(0, dot);
    std::int64_t number = 0;
    const auto parsed = std::from_chars(part.data(), part.data() + part.size(), number);
    const bool is_number =
        !part.empty() && part[0] != '-' && parsed.ec == std::errc() && parsed.ptr == part.data() + part.size();
    current = step_to(current, is_number ? Value::integer(number) : machine.string(std::string(part)));
    if (dot == std::string_view::npos) break;
    rest.remove_prefix(dot + 1);
  }
  return current;
}

Value ignore_case(Machine& machine, const Value& value) {
  return value.is_string() ? machine.string(lower(value.text())) : value;
}

}  // namespace plait::jinja
