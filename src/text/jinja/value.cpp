// Values and their heap: counting, hashing, dictionaries.
#include "text/jinja/value.h"

#include <cmath>
#include <functional>

namespace plait::jinja {

Heap::~Heap() {
  draining_ = true;  // From here on a last reference frees nothing: the list below does.
  for (Object* object = first_; object; object = object->next) object->drop_references();
  while (first_) {
    Object* object = first_;
    first_ = object->next;
    delete object;
  }
}

void Heap::adopt(Object* object, std::size_t bytes) {
  object->heap = this;
  object->charged_bytes = bytes;
  used_bytes_ += bytes;
  object->next = first_;
  if (first_) first_->previous = object;
  first_ = object;
}

void Heap::destroy(Object* object) {
  object->drop_references();
  (object->previous ? object->previous->next : first_) = object->next;
  if (object->next) object->next->previous = object->previous;
  used_bytes_ -= object->charged_bytes;
  delete object;
}

// Freed in a loop: a list nested a million times must not recurse a million times.
void Heap::release(Object* object) {
  if (first_ == nullptr) return;
  dead_.push_back(object);
  if (draining_) return;
  draining_ = true;
  while (!dead_.empty()) {
    Object* dead = dead_.back();
    dead_.pop_back();
    destroy(dead);
  }
  draining_ = false;
}

Value Value::boolean(bool value) {
  Value result(Kind::kBool);
  result.data_.boolean = value;
  return result;
}

Value Value::integer(std::int64_t value) {
  Value result(Kind::kInt);
  result.data_.integer = value;
  return result;
}

Value Value::real(double value) {
  Value result(Kind::kFloat);
  result.data_.real = value;
  return result;
}

const std::string& Value::text() const { return as<String>().text; }
std::vector<Value>& Value::items() const { return as<List>().items; }

bool Value::same_object(const Value& other) const {
  if (kind_ != other.kind_) return false;
  switch (kind_) {
    case Kind::kMissing:
    case Kind::kNone:
      return true;
    case Kind::kBool:
      return data_.boolean == other.data_.boolean;
    case Kind::kInt:
      return data_.integer == other.data_.integer;
    case Kind::kFloat:
      return data_.real == other.data_.real;
    default:
      return data_.object == other.data_.object;
  }
}

namespace {

std::size_t hash_number(double value) {
  if (value == std::floor(value) && std::abs(value) < 9e18)
    return std::hash<std::int64_t>()(static_cast<std::int64_t>(value));
  return std::hash<double>()(value);
}

}  // namespace

std::size_t hash_value(const Value& value) {
  switch (value.kind()) {
    case Kind::kNone:
      return 0x9e3779b9u;
    case Kind::kBool:
    case Kind::kInt:
      return std::hash<std::int64_t>()(value.as_int());
    case Kind::kFloat:
      return hash_number(value.as_double());
    case Kind::kString:
    case Kind::kBytes:
      return std::hash<std::string_view>()(value.text());
    case Kind::kTuple: {
      std::size_t hash = 0x345678u;
      for (const Value& item : value.items()) hash = hash * 1000003u ^ hash_value(item);
      return hash;
    }
    case Kind::kUndefined:
      return 1;
    default:
      return std::hash<const void*>()(value.object());
  }
}

bool is_hashable(const Value& value, int depth) {
  if (depth > 100) return false;
  if (value.is(Kind::kTuple)) {
    for (const Value& item : value.items()) {
      if (!is_hashable(item, depth + 1)) return false;
    }
  }
  return !value.is(Kind::kList) && !value.is(Kind::kDict) && !value.is(Kind::kNamespace) && !value.is(Kind::kView);
}

bool keys_equal(const Value& a, const Value& b) {
  if (a.is_integral() && b.is_integral()) return a.as_int() == b.as_int();
  if (a.is_number() && b.is_number()) return a.as_double() == b.as_double();
  if (a.kind() != b.kind()) return false;
  if (a.is_string() || a.is(Kind::kBytes)) return a.text() == b.text();
  if (a.is_undefined()) return true;
  if (a.is(Kind::kTuple)) {
    if (a.items().size() != b.items().size()) return false;
    for (std::size_t i = 0; i < a.items().size(); ++i) {
      if (!keys_equal(a.items()[i], b.items()[i])) return false;
    }
    return true;
  }
  return a.same_object(b);
}

namespace {
constexpr std::size_t kScanned = 8;  // So many keys are searched faster than hashed.
}

const Value* Dict::find(const Value& key) const {
  if (entries.size() <= kScanned) {
    for (const auto& entry : entries) {
      if (keys_equal(entry.first, key)) return &entry.second;
    }
    return nullptr;
  }
  const auto range = index.equal_range(hash_value(key));
  for (auto i = range.first; i != range.second; ++i) {
    if (keys_equal(entries[i->second].first, key)) return &entries[i->second].second;
  }
  return nullptr;
}

const Value* Dict::find(std::string_view key) const {
  const auto is_key = [key](const Value& value) { return value.is_string() && value.text() == key; };
  if (entries.size() <= kScanned) {
    for (const auto& entry : entries) {
      if (is_key(entry.first)) return &entry.second;
    }
    return nullptr;
  }
  const auto range = index.equal_range(std::hash<std::string_view>()(key));
  for (auto i = range.first; i != range.second; ++i) {
    if (is_key(entries[i->second].first)) return &entries[i->second].second;
  }
  return nullptr;
}

void Dict::set(Value key, Value value) {
  if (const Value* found = find(key)) {
    *const_cast<Value*>(found) = std::move(value);
    return;
  }
  entries.emplace_back(std::move(key), std::move(value));
  heap->charge(this, 96);
  if (entries.size() == kScanned + 1) {
    for (std::size_t i = 0; i < entries.size(); ++i) index.emplace(hash_value(entries[i].first), i);
  } else if (entries.size() > kScanned) {
    index.emplace(hash_value(entries.back().first), entries.size() - 1);
  }
}

std::int64_t Range::length() const {
  if (step > 0) return start < stop ? (stop - start - 1) / step + 1 : 0;
  return start > stop ? (start - stop - 1) / -step + 1 : 0;
}

const Value* Scope::find(int name) const {
  for (const Scope* scope = this; scope; scope = scope->parent.missing() ? nullptr : &scope->parent.as<Scope>()) {
    for (const auto& variable : scope->variables) {
      if (variable.first == name) return variable.second.missing() ? nullptr : &variable.second;
    }
  }
  return nullptr;
}

void Scope::set(int name, Value value) {
  for (auto& variable : variables) {
    if (variable.first == name) {
      variable.second = std::move(value);
      return;
    }
  }
  variables.emplace_back(name, std::move(value));
}

std::string type_name(const Value& value) {
  switch (value.kind()) {
    case Kind::kMissing:
    case Kind::kNone:
      return "NoneType";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "int";
    case Kind::kFloat:
      return "float";
    case Kind::kUndefined:
      return "Undefined";
    case Kind::kString:
      return value.as<String>().safe ? "Markup" : "str";
    case Kind::kBytes:
      return "bytes";
    case Kind::kList:
      return "list";
    case Kind::kTuple:
      return value.as<List>().is_group ? "_GroupTuple" : "tuple";
    case Kind::kDict:
      return "dict";
    case Kind::kView: {
      const View::What what = value.as<View>().what;
      return what == View::What::kKeys ? "dict_keys" : what == View::What::kValues ? "dict_values" : "dict_items";
    }
    case Kind::kRange:
      return "range";
    case Kind::kGenerator:
      return value.as<Generator>().type_name;
    case Kind::kNamespace:
      return "Namespace";
    case Kind::kMacro:
      return "Macro";
    case Kind::kLoop:
      return "LoopContext";
    case Kind::kFunction:
      return "function";
    case Kind::kScope:
      return "scope";
  }
  return "object";
}

}  // namespace plait::jinja
