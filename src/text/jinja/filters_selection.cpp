// Filters that apply filters and tests to each item: map, select, reject and their kin.
#include <fmt/format.h>

#include "text/jinja/filters.h"

namespace plait::jinja {
namespace {

using Args = const Arguments&;

Arguments without_first(Args arguments, std::size_t count) {
  Arguments rest = arguments;
  rest.positional.erase(rest.positional.begin(), rest.positional.begin() + static_cast<std::ptrdiff_t>(count));
  return rest;
}

void map_items(Machine& m, const std::vector<Value>& items, Args arguments, std::vector<Value>& mapped) {
  const auto named = [&arguments](std::string_view name) {
    for (const auto& entry : arguments.named) {
      if (entry.first == name) return entry.second;
    }
    return Value();
  };
  const Value path = named("attribute");
  if (arguments.positional.empty() && !path.missing()) {
    for (const auto& entry : arguments.named) {
      if (entry.first != "attribute" && entry.first != "default") {
        m.fail(fmt::format("map: unexpected keyword argument {}", quoted(entry.first)));
      }
    }
    for (const Value& entry : items) {
      if (!m.step()) return;
      mapped.push_back(follow(m, entry, path, named("default")));
    }
    return;
  }
  if (arguments.positional.empty()) {
    m.fail("map requires a filter argument");
    return;
  }
  if (!string_argument(m, arguments.positional[0], "map: the filter's name")) return;
  const std::string name = arguments.positional[0].text();
  Arguments rest = without_first(arguments, 1);
  for (const Value& entry : items) {
    if (m.failed()) return;
    mapped.push_back(m.call_filter(name, entry, rest));
  }
}

Value map_filter(Machine& m, const Value& s, Args arguments) {
  return m.lazily([&](std::vector<Value>& mapped) {
    std::vector<Value> items;
    if (!truth(s)) return;
    if (iterate(m, s, items)) map_items(m, items, arguments, mapped);
  });
}

struct SelectRules {
  bool by_attribute;
  bool keep;  // What the test must say.
};

void select_items(Machine& m, const Value& s, Args arguments, SelectRules rules, std::vector<Value>& kept) {
  std::vector<Value> items;
  if (!truth(s) || !iterate(m, s, items)) return;
  const std::size_t skipped = rules.by_attribute ? 1 : 0;
  if (arguments.positional.size() < skipped) {
    m.fail("missing parameter for attribute name");
    return;
  }
  const bool has_test = arguments.positional.size() > skipped;
  if (has_test && !string_argument(m, arguments.positional[skipped], "the test's name")) return;
  const std::string test = has_test ? arguments.positional[skipped].text() : std::string();
  Arguments rest = without_first(arguments, skipped + has_test);
  for (const Value& entry : items) {
    if (!m.step()) return;
    const Value subject = rules.by_attribute ? follow(m, entry, arguments.positional[0]) : entry;
    if (m.failed()) return;
    const bool holds = has_test ? m.call_test(test, subject, rest) : truth(subject);
    if (!m.failed() && holds == rules.keep) kept.push_back(entry);
  }
}

template <bool kByAttribute, bool kKeep>
Value select_filter(Machine& m, const Value& s, Args arguments) {
  return m.lazily([&](std::vector<Value>& kept) {
    select_items(m, s, arguments, {.by_attribute = kByAttribute, .keep = kKeep}, kept);
  });
}

constexpr Filter kFilters[] = {{"map", map_filter},
                               {"select", select_filter<false, true>},
                               {"reject", select_filter<false, false>},
                               {"selectattr", select_filter<true, true>},
                               {"rejectattr", select_filter<true, false>}};

}  // namespace

std::span<const Filter> selection_filters() { return kFilters; }

}  // namespace plait::jinja
