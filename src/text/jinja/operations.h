// What Python's operators and built-in functions do with values: text, truth, comparison, arithmetic, access,
// iteration.
#pragma once

#include <optional>
#include <string>

#include "text/jinja/machine.h"

namespace plait::jinja {

// text_of.cpp
std::string float_text(double value);                       // repr(1e16) is 1e+16.
std::string quoted(std::string_view text);                  // repr of a str.
std::string text_of(Machine& machine, const Value& value);  // str()
std::string repr_of(Machine& machine, const Value& value);  // repr()
std::string escape_html(std::string_view text);

// compare.cpp
bool truth(const Value& value);
bool equals(Machine& machine, const Value& a, const Value& b, int depth = 0);
// -1, 0, 1; fails if the two have no order. `sign` is for the message.
int compare(Machine& machine, const Value& a, const Value& b, std::string_view sign = "<", int depth = 0);
bool compare_by(Machine& machine, Operator op, const Value& a, const Value& b);
bool contains(Machine& machine, const Value& container, const Value& item);

// arithmetic.cpp
Value arithmetic(Machine& machine, Operator op, const Value& a, const Value& b);
Value negate(Machine& machine, const Value& value, bool negative);
std::optional<double> rounded(double value, std::int64_t digits);  // As Python's round().

// access.cpp
Value attribute(Machine& machine, const Value& object, std::string_view name);  // object.name: attribute first
Value field(Machine& machine, const Value& object, std::string_view name);      // Only attributes, no items.
Value item(Machine& machine, const Value& object, const Value& key);            // object[key]: item first
Value slice(Machine& machine, const Value& object, const Value& start, const Value& stop, const Value& step);
std::int64_t length_of(Machine& machine, const Value& value);                   // len(); fails where there is none.
bool iterate(Machine& machine, const Value& value, std::vector<Value>& items);  // All items; uses up a generator.
bool has_iterator(const Value& value);
bool check_defined(Machine& machine, const Value& value);  // Fails with the undefined value's own message.
// An index as Python's slices take it: clamps into [0, length].
std::int64_t clamp_index(std::int64_t index, std::int64_t length);

// methods.cpp: the method of a value by name, as a function bound to it; missing if there is none.
Value find_method(Machine& machine, const Value& object, std::string_view name);
Value call_method(Machine& machine, const Function& function, Arguments& arguments);
Value call_string_method(Machine& machine, const Value& self, std::string_view name, const Arguments& arguments);
bool is_string_method(std::string_view name);

// formatting.cpp
Value format_percent(Machine& machine, const std::string& format, const Value& arguments);
Value format_braces(Machine& machine, const std::string& format, const Arguments& arguments);
Value format_braces_map(Machine& machine, const std::string& format, const Arguments& arguments);

// globals.cpp
Value call_global(Machine& machine, Function& function, Arguments& arguments);
bool is_global(std::string_view name);

// json_text.cpp
Value to_json(Machine& machine, const Value& value, const Arguments& arguments);

// filters.cpp, tests.cpp
bool is_filter(std::string_view name);
bool is_test(std::string_view name);

// Conversions of arguments; they fail with the parameter's name.
std::optional<std::int64_t> integer_argument(Machine& machine, const Value& value, std::string_view what);
bool string_argument(Machine& machine, const Value& value, std::string_view what);

}  // namespace plait::jinja
