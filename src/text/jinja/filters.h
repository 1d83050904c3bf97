// The built-in filters, in three lists, and what their files share.
#pragma once

#include <span>

#include "text/jinja/operations.h"

namespace plait::jinja {

struct Filter {
  std::string_view name;
  Value (*run)(Machine& machine, const Value& subject, const Arguments& arguments);
};

std::span<const Filter> text_filters();
std::span<const Filter> number_filters();
std::span<const Filter> sequence_filters();
std::span<const Filter> selection_filters();

// Where `attribute='a.b.0'` leads from a value. Missing steps give undefined, or `fallback` unless that is missing.
Value follow(Machine& machine, const Value& value, const Value& path, const Value& fallback = {});
Value ignore_case(Machine& machine, const Value& value);  // Text in lower case, all else as it is.

}  // namespace plait::jinja
