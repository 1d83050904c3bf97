// The built-in tests: what may stand behind `is`.
#include <fmt/format.h>

#include <optional>

#include "text/jinja/operations.h"
#include "text/jinja/unicode.h"

namespace plait::jinja {
namespace {

using Args = const Arguments&;

struct Test {
  std::string_view name;
  int arguments;
  bool (*holds)(Machine& machine, const Value& subject, const Value& argument);
};

bool remainder_is(Machine& m, const Value& s, std::int64_t divisor, std::int64_t rest) {
  return equals(m, arithmetic(m, Operator::kModulo, s, Value::integer(divisor)), Value::integer(rest));
}

// All letters with case are of that case, and there is one.
bool has_case(const std::string& text, bool (*wanted)(char32_t), bool (*other)(char32_t)) {
  bool found = false;
  for (const char32_t c : to_code_points(text)) {
    if (other(c) || is_title(c)) return false;
    found |= wanted(c);
  }
  return found;
}

template <Operator kOperator>
bool compares(Machine& m, const Value& s, const Value& a) {
  return compare_by(m, kOperator, s, a);
}

bool is_sequence_like(const Value& s) {
  return s.is_string() || s.is(Kind::kBytes) || s.is_sequence() || s.is_dict() || s.is(Kind::kRange) ||
         s.is_undefined();
}

constexpr Test kTests[] = {
    {"defined", 0, [](Machine&, const Value& s, const Value&) { return !s.is_undefined(); }},
    {"undefined", 0, [](Machine&, const Value& s, const Value&) { return s.is_undefined(); }},
    {"none", 0, [](Machine&, const Value& s, const Value&) { return s.is_none(); }},
    {"boolean", 0, [](Machine&, const Value& s, const Value&) { return s.is(Kind::kBool); }},
    {"true", 0, [](Machine&, const Value& s, const Value&) { return s.is(Kind::kBool) && s.as_bool(); }},
    {"false", 0, [](Machine&, const Value& s, const Value&) { return s.is(Kind::kBool) && !s.as_bool(); }},
    {"integer", 0, [](Machine&, const Value& s, const Value&) { return s.is(Kind::kInt); }},
    {"float", 0, [](Machine&, const Value& s, const Value&) { return s.is(Kind::kFloat); }},
    {"number", 0, [](Machine&, const Value& s, const Value&) { return s.is_number(); }},
    {"string", 0, [](Machine&, const Value& s, const Value&) { return s.is_string(); }},
    {"mapping", 0, [](Machine&, const Value& s, const Value&) { return s.is_dict(); }},
    {"sequence", 0, [](Machine&, const Value& s, const Value&) { return is_sequence_like(s); }},
    {"iterable", 0, [](Machine&, const Value& s, const Value&) { return has_iterator(s) || s.is(Kind::kLoop); }},
    {"callable", 0,
     [](Machine&, const Value& s, const Value&) {
       return s.is(Kind::kFunction) || s.is(Kind::kMacro) || s.is(Kind::kLoop) || s.is_undefined();
     }},
    {"escaped", 0, [](Machine&, const Value& s, const Value&) { return s.is_string() && s.as<String>().safe; }},
    {"odd", 0, [](Machine& m, const Value& s, const Value&) { return remainder_is(m, s, 2, 1); }},
    {"even", 0, [](Machine& m, const Value& s, const Value&) { return remainder_is(m, s, 2, 0); }},
    {"divisibleby", 1,
     [](Machine& m, const Value& s, const Value& a) {
       return equals(m, arithmetic(m, Operator::kModulo, s, a), Value::integer(0));
     }},
    {"lower", 0, [](Machine& m, const Value& s, const Value&) { return has_case(text_of(m, s), is_lower, is_upper); }},
    {"upper", 0, [](Machine& m, const Value& s, const Value&) { return has_case(text_of(m, s), is_upper, is_lower); }},
    {"sameas", 1, [](Machine&, const Value& s, const Value& a) { return s.same_object(a); }},
    {"filter", 0, [](Machine&, const Value& s, const Value&) { return s.is_string() && is_filter(s.text()); }},
    {"test", 0, [](Machine&, const Value& s, const Value&) { return s.is_string() && is_test(s.text()); }},
    {"in", 1, compares<Operator::kIn>},
    {"==", 1, compares<Operator::kEqual>},
    {"eq", 1, compares<Operator::kEqual>},
    {"equalto", 1, compares<Operator::kEqual>},
    {"!=", 1, compares<Operator::kNotEqual>},
    {"ne", 1, compares<Operator::kNotEqual>},
    {">", 1, compares<Operator::kGreater>},
    {"gt", 1, compares<Operator::kGreater>},
    {"greaterthan", 1, compares<Operator::kGreater>},
    {">=", 1, compares<Operator::kGreaterEqual>},
    {"ge", 1, compares<Operator::kGreaterEqual>},
    {"<", 1, compares<Operator::kLess>},
    {"lt", 1, compares<Operator::kLess>},
    {"lessthan", 1, compares<Operator::kLess>},
    {"<=", 1, compares<Operator::kLessEqual>},
    {"le", 1, compares<Operator::kLessEqual>},
};

const Test* find_test(std::string_view name) {
  for (const Test& test : kTests) {
    if (test.name == name) return &test;
  }
  return nullptr;
}

}  // namespace

bool is_test(std::string_view name) { return find_test(name) != nullptr; }

bool Machine::call_test(std::string_view name, const Value& subject, Arguments& arguments) {
  if (!step()) return false;
  const Test* test = find_test(name);
  if (!test) return fail(fmt::format("no test named {}", quoted(name))), false;
  const std::size_t given = arguments.positional.size() + arguments.named.size();
  if (given != static_cast<std::size_t>(test->arguments)) {
    return fail(fmt::format("the test '{}' takes {} argument(s), {} given", name, test->arguments, given)), false;
  }
  const Value argument = given == 0                ? Value()
                         : arguments.named.empty() ? arguments.positional[0]
                                                   : arguments.named[0].second;
  return test->holds(*this, subject, argument) && !failed_;
}

}  // namespace plait::jinja
