// Filters over sequences: order, grouping, aggregates.
#include <fmt/format.h>

#include <algorithm>

#include "text/jinja/filters.h"
#include "text/jinja/unicode.h"

namespace plait::jinja {
namespace {

using Args = const Arguments&;

Value list_filter(Machine& m, const Value& s, Args) {
  std::vector<Value> items;
  return iterate(m, s, items) ? m.list(std::move(items)) : Value();
}

Value first_filter(Machine& m, const Value& s, Args) {
  std::vector<Value> items;
  if (s.is_string() && !s.text().empty()) return item(m, s, Value::integer(0));
  if (!iterate(m, s, items)) return {};
  return items.empty() ? m.undefined("no first item, sequence was empty") : items[0];
}

Value last_filter(Machine& m, const Value& s, Args) {
  if (s.is(Kind::kGenerator)) return m.fail(fmt::format("'{}' object is not reversible", type_name(s)));
  if (s.is_string() && !s.text().empty()) return item(m, s, Value::integer(-1));
  std::vector<Value> items;
  if (!iterate(m, s, items)) return {};
  return items.empty() ? m.undefined("no last item, sequence was empty") : items.back();
}

// Rendering is repeatable, so the choice is always the same.
Value random_filter(Machine& m, const Value& s, Args) {
  if (length_of(m, s) == 0) return m.failed() ? Value() : m.undefined("no random item, sequence was empty");
  return item(m, s, Value::integer(0));
}

Value reverse_filter(Machine& m, const Value& s, Args) {
  if (s.is_string()) return slice(m, s, {}, {}, Value::integer(-1));
  std::vector<Value> items;
  if (!iterate(m, s, items)) return {};
  std::reverse(items.begin(), items.end());
  return s.is(Kind::kGenerator) ? m.list(std::move(items)) : m.generator(std::move(items), "reversed");
}

Value join_filter(Machine& m, const Value& s, Args arguments) {
  const auto bound = bind(m, "join", arguments, {"d", "attribute"});
  std::vector<Value> items;
  if (m.failed() || !iterate(m, s, items)) return {};
  const std::string joint = text_of(m, bound[0]);
  std::string out;
  for (std::size_t i = 0; i < items.size() && !m.failed(); ++i) {
    if (i > 0) out += joint;
    out += text_of(m, follow(m, items[i], bound[1]));
    if (!m.has_room(out.size())) return {};
  }
  return m.string(std::move(out));
}

Value items_filter(Machine& m, const Value& s, Args) {
  return m.lazily([&](std::vector<Value>& items) {
    if (s.is_undefined()) return;
    if (!s.is_dict()) {
      m.fail("can only get item pairs from a mapping");
      return;
    }
    for (const auto& [key, value] : s.as<Dict>().entries) items.push_back(m.pair(key, value));
  });
}

struct Keyed {
  Value key, item;
};

std::vector<Value> sorted(Machine& m, std::vector<Keyed> keyed, bool reverse) {
  std::stable_sort(keyed.begin(), keyed.end(), [&m, reverse](const Keyed& a, const Keyed& b) {
    return !m.failed() && (reverse ? compare(m, b.key, a.key) : compare(m, a.key, b.key)) == -1;
  });
  std::vector<Value> items;
  for (Keyed& entry : keyed) items.push_back(std::move(entry.item));
  return items;
}

Value sort_filter(Machine& m, const Value& s, Args arguments) {
  const auto bound = bind(m, "sort", arguments, {"reverse", "case_sensitive", "attribute"});
  std::vector<Value> items, paths;
  if (m.failed() || !iterate(m, s, items)) return {};
  if (bound[2].is_string()) {
    for (std::string_view rest = bound[2].text();;) {
      const std::size_t comma = rest.find(',');
      paths.push_back(m.string(std::string(rest.substr(0, comma))));
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
  } else {
    paths.push_back(bound[2]);
  }
  std::vector<Keyed> keyed;
  for (Value& entry : items) {
    std::vector<Value> keys;
    for (const Value& path : paths) {
      const Value key = follow(m, entry, path);
      keys.push_back(truth(bound[1]) ? key : ignore_case(m, key));
    }
    if (m.failed()) return {};
    keyed.push_back({m.list(std::move(keys)), std::move(entry)});
  }
  return m.list(sorted(m, std::move(keyed), truth(bound[0])));
}

Value dictsort_filter(Machine& m, const Value& s, Args arguments) {
  const auto bound = bind(m, "dictsort", arguments, {"case_sensitive", "by", "reverse"});
  if (m.failed() || !check_defined(m, s)) return {};
  const std::string by = bound[1].is_string() ? bound[1].text() : "key";
  if (by != "key" && by != "value") return m.fail("dictsort: you can only sort by either \"key\" or \"value\"");
  if (!s.is_dict()) return m.fail(fmt::format("'{} object' has no attribute 'items'", type_name(s)));
  std::vector<Keyed> keyed;
  for (const auto& [key, value] : s.as<Dict>().entries) {
    const Value& subject = by == "key" ? key : value;
    keyed.push_back({truth(bound[0]) ? subject : ignore_case(m, subject), m.pair(key, value)});
    if (!m.step()) return {};
  }
  return m.list(sorted(m, std::move(keyed), truth(bound[2])));
}

Value groupby_filter(Machine& m, const Value& s, Args arguments) {
  const auto bound = bind(m, "groupby", arguments, {"attribute", "default", "case_sensitive"}, 1);
  std::vector<Value> items;
  if (m.failed() || !iterate(m, s, items)) return {};
  const auto key_of = [&](const Value& entry) {
    const Value key = follow(m, entry, bound[0], bound[1]);
    return truth(bound[2]) ? key : ignore_case(m, key);
  };
  std::vector<Keyed> keyed;
  for (const Value& entry : items) keyed.push_back({key_of(entry), entry});
  if (m.failed()) return {};
  const std::vector<Value> ordered = sorted(m, std::move(keyed), false);
  std::vector<Value> groups;
  for (std::size_t i = 0; i < ordered.size() && !m.failed();) {
    const Value key = key_of(ordered[i]);
    const Value shown = follow(m, ordered[i], bound[0], bound[1]);
    std::vector<Value> members;
    for (; i < ordered.size() && !m.failed() && equals(m, key_of(ordered[i]), key); ++i) members.push_back(ordered[i]);
    if (members.empty()) break;
    Value group = m.pair(shown, m.list(std::move(members)));
    group.as<List>().is_group = true;
    groups.push_back(std::move(group));
  }
  return m.list(std::move(groups));
}

Value unique_filter(Machine& m, const Value& s, Args arguments) {
  return m.lazily([&](std::vector<Value>& unique) {
    const auto bound = bind(m, "unique", arguments, {"case_sensitive", "attribute"});
    std::vector<Value> items;
    if (m.failed() || !iterate(m, s, items)) return;
    const Value seen = m.dict();
    for (const Value& entry : items) {
      Value key = follow(m, entry, bound[1]);
      if (!truth(bound[0])) key = ignore_case(m, key);
      if (m.failed()) return;
      if (!is_hashable(key)) {
        m.fail(fmt::format("unhashable type: '{}'", type_name(key)));
        return;
      }
      if (seen.as<Dict>().find(key)) continue;
      seen.as<Dict>().set(key, Value::none());
      unique.push_back(entry);
      if (!m.step()) return;
    }
  });
}

Value extreme(Machine& m, const Value& s, Args arguments, bool largest) {
  const auto bound = bind(m, largest ? "max" : "min", arguments, {"case_sensitive", "attribute"});
  std::vector<Value> items;
  if (m.failed() || !iterate(m, s, items)) return {};
  if (items.empty()) return m.undefined("no aggregated item, sequence was empty");
  const auto key_of = [&](const Value& entry) {
    const Value key = follow(m, entry, bound[1]);
    return truth(bound[0]) ? key : ignore_case(m, key);
  };
  std::size_t best = 0;
  Value best_key = key_of(items[0]);
  for (std::size_t i = 1; i < items.size() && !m.failed(); ++i) {
    const Value key = key_of(items[i]);
    if (compare(m, key, best_key, largest ? ">" : "<") != (largest ? 1 : -1)) continue;
    best = i;
    best_key = key;
  }
  return m.failed() ? Value() : items[best];
}

Value min_filter(Machine& m, const Value& s, Args arguments) { return extreme(m, s, arguments, false); }
Value max_filter(Machine& m, const Value& s, Args arguments) { return extreme(m, s, arguments, true); }

Value sum_filter(Machine& m, const Value& s, Args arguments) {
  const auto bound = bind(m, "sum", arguments, {"attribute", "start"});
  std::vector<Value> items;
  if (m.failed() || !iterate(m, s, items)) return {};
  Value total = bound[1].missing() ? Value::integer(0) : bound[1];
  if (total.is_string()) return m.fail("sum() can't sum strings [use ''.join(seq) instead]");
  for (const Value& entry : items) {
    if (!m.step()) return {};
    total = arithmetic(m, Operator::kAdd, total, follow(m, entry, bound[0]));
  }
  return total;
}

Value batch_filter(Machine& m, const Value& s, Args arguments) {
  return m.lazily([&](std::vector<Value>& rows) {
    const auto bound = bind(m, "batch", arguments, {"linecount", "fill_with"}, 1);
    std::vector<Value> items, row;
    if (m.failed() || !iterate(m, s, items)) return;
    const auto count = integer_argument(m, bound[0], "batch: linecount");
    if (!count) return;
    for (const Value& entry : items) {
      if (static_cast<std::int64_t>(row.size()) == *count) rows.push_back(m.list(std::exchange(row, {})));
      row.push_back(entry);
    }
    if (row.empty()) return;
    const std::int64_t absent = *count - static_cast<std::int64_t>(row.size());
    if (!bound[1].missing() && !bound[1].is_none() && absent > 0) {
      if (absent > 1'000'000 || !m.has_room(static_cast<std::size_t>(absent) * sizeof(Value))) {
        m.fail_limit("batch: linecount is too large");
        return;
      }
      row.insert(row.end(), static_cast<std::size_t>(absent), bound[1]);
    }
    rows.push_back(m.list(std::move(row)));
  });
}

Value slice_filter(Machine& m, const Value& s, Args arguments) {
  return m.lazily([&](std::vector<Value>& rows) {
    const auto bound = bind(m, "slice", arguments, {"slices", "fill_with"}, 1);
    std::vector<Value> items;
    if (m.failed() || !iterate(m, s, items)) return;
    const auto count = integer_argument(m, bound[0], "slice: slices");
    if (!count) return;
    if (*count == 0) {
      m.fail("integer division or modulo by zero");
      return;
    }
    const std::int64_t length = static_cast<std::int64_t>(items.size()), each = length / *count,
                       extra = length % *count;
    std::int64_t at = 0;
    for (std::int64_t i = 0; i < *count && m.step(); ++i) {
      const std::int64_t end = at + each + (i < extra ? 1 : 0);
      std::vector<Value> row(items.begin() + at, items.begin() + end);
      at = end;
      if (!bound[1].missing() && !bound[1].is_none() && i >= extra) row.push_back(bound[1]);
      rows.push_back(m.list(std::move(row)));
    }
  });
}

constexpr Filter kFilters[] = {
    {"list", list_filter},         {"first", first_filter},     {"last", last_filter},     {"random", random_filter},
    {"reverse", reverse_filter},   {"join", join_filter},       {"items", items_filter},   {"sort", sort_filter},
    {"dictsort", dictsort_filter}, {"groupby", groupby_filter}, {"unique", unique_filter}, {"min", min_filter},
    {"max", max_filter},           {"sum", sum_filter},         {"batch", batch_filter},   {"slice", slice_filter}};

}  // namespace

std::span<const Filter> sequence_filters() { return kFilters; }

}  // namespace plait::jinja
