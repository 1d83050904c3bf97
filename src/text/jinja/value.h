// Values of the template language: what Python's objects are to Jinja. Counted references, all owned by one Heap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace plait::jinja {

enum class Kind : std::uint8_t {
  kMissing,  // No value at all: an argument that was not given. Templates never see it.
  kNone,
  kBool,
  kInt,
  kFloat,
  kUndefined,  // From here on the value refers to an Object.
  kString,
  kBytes,
  kList,
  kTuple,
  kDict,
  kView,
  kRange,
  kGenerator,
  kNamespace,
  kMacro,
  kLoop,
  kFunction,
  kScope,
};

class Heap;

struct Object {
  virtual ~Object() = default;
  virtual void drop_references() {}  // Lets go of every value it holds, so that cycles come apart.

  Heap* heap = nullptr;
  Object* previous = nullptr;
  Object* next = nullptr;
  std::size_t charged_bytes = 0;
  std::int64_t references = 0;
};

// Counts what templates hold and frees it: at the last reference, or, for cycles, when the heap goes.
class Heap {
 public:
  explicit Heap(std::size_t limit_bytes) : limit_bytes_(limit_bytes) {}
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  template <class T>
  T* make(std::size_t extra_bytes = 0) {
    T* object = new T;
    adopt(object, sizeof(T) + extra_bytes);
    return object;
  }
  void charge(Object* object, std::size_t bytes) { object->charged_bytes += bytes, used_bytes_ += bytes; }
  bool has_room(std::size_t bytes) const { return bytes <= limit_bytes_ && used_bytes_ <= limit_bytes_ - bytes; }
  void release(Object* object);

 private:
  void adopt(Object* object, std::size_t bytes);
  void destroy(Object* object);

  std::size_t limit_bytes_;
  std::size_t used_bytes_ = 0;
  Object* first_ = nullptr;
  std::vector<Object*> dead_;
  bool draining_ = false;
};

class Value {
 public:
  Value() = default;
  Value(Kind kind, Object* object) : kind_(kind) {
    data_.object = object;
    ++object->references;
  }
  Value(const Value& other) : kind_(other.kind_), data_(other.data_) {
    if (is_object()) ++data_.object->references;
  }
  Value(Value&& other) noexcept : kind_(other.kind_), data_(other.data_) { other.kind_ = Kind::kMissing; }
  Value& operator=(Value other) noexcept {
    std::swap(kind_, other.kind_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~Value() {
    if (is_object() && --data_.object->references == 0) data_.object->heap->release(data_.object);
  }

  static Value none() { return Value(Kind::kNone); }
  static Value boolean(bool value);
  static Value integer(std::int64_t value);
  static Value real(double value);

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }
  bool missing() const { return kind_ == Kind::kMissing; }
  bool is_none() const { return kind_ == Kind::kNone; }
  bool is_undefined() const { return kind_ == Kind::kUndefined; }
  bool is_string() const { return kind_ == Kind::kString; }
  bool is_sequence() const { return kind_ == Kind::kList || kind_ == Kind::kTuple; }
  bool is_dict() const { return kind_ == Kind::kDict; }
  bool is_integral() const { return kind_ == Kind::kInt || kind_ == Kind::kBool; }
  bool is_number() const { return is_integral() || kind_ == Kind::kFloat; }
  bool is_object() const { return kind_ >= Kind::kUndefined; }

  bool as_bool() const { return data_.boolean; }
  std::int64_t as_int() const {
    return kind_ == Kind::kBool ? static_cast<std::int64_t>(data_.boolean) : data_.integer;
  }
  double as_double() const { return kind_ == Kind::kFloat ? data_.real : static_cast<double>(as_int()); }
  Object* object() const { return data_.object; }
  template <class T>
  T& as() const {
    return *static_cast<T*>(data_.object);
  }
  const std::string& text() const;             // Of a string.
  std::vector<Value>& items() const;           // Of a list or tuple.
  bool same_object(const Value& other) const;  // Python's `is`.

 private:
  explicit Value(Kind kind) : kind_(kind) {}

  Kind kind_ = Kind::kMissing;
  union {
    bool boolean;
    std::int64_t integer;
    double real;
    Object* object;
  } data_ = {.integer = 0};
};

struct String : Object {
  std::string text;          // UTF-8; of kBytes any bytes.
  bool safe = false;         // Markup: not to be escaped again.
  std::int64_t length = -1;  // In code points, once counted.
};

struct Undefined : Object {
  std::string message;  // The error of whoever uses it.
};

struct List : Object {
  void drop_references() override { items.clear(); }
  std::vector<Value> items;
  bool is_group = false;  // groupby's pairs: also reached as .grouper and .list.
};

// Keys in order of insertion; equal numbers of different types are one key, as in Python.
struct Dict : Object {
  void drop_references() override { entries.clear(), index.clear(); }
  const Value* find(const Value& key) const;
  const Value* find(std::string_view key) const;
  void set(Value key, Value value);

  std::vector<std::pair<Value, Value>> entries;
  std::unordered_multimap<std::size_t, std::size_t> index;  // Hash of the key to its place in `entries`.
};

struct View : Object {  // dict.keys(), .values(), .items()
  enum class What { kKeys, kValues, kItems };
  void drop_references() override { dict = {}; }
  Value dict;
  What what = What::kKeys;
};

struct Range : Object {
  std::int64_t start = 0, stop = 0, step = 1;
  std::int64_t length() const;
};

// What Python computes lazily is computed at once here; only its error waits until somebody looks.
struct Generator : Object {
  void drop_references() override { items.clear(); }
  std::vector<Value> items;
  std::size_t next_item = 0;
  std::string type_name = "generator";
  std::string error;
  int error_line = 0;
};

struct Namespace : Object {
  void drop_references() override { attributes = {}; }
  Value attributes;  // A dict.
};

// Variables by number; lookups go outwards through `parent`.
struct Scope : Object {
  void drop_references() override { variables.clear(), parent = {}; }
  const Value* find(int name) const;
  void set(int name, Value value);
  std::vector<std::pair<int, Value>> variables;
  Value parent;  // A scope, or missing.
};

struct MacroNode;
struct Macro : Object {
  void drop_references() override { scope = {}; }
  const MacroNode* node = nullptr;
  Value scope;  // Where it was defined.
};

struct Statement;
struct Loop : Object {
  void drop_references() override { items.clear(), last_changed.clear(), scope = {}; }
  std::vector<Value> items;
  std::size_t position = 0;
  int depth = 1;
  bool has_changed = false;
  std::vector<Value> last_changed;
  const Statement* statement = nullptr;
  Value scope;  // Where the loop stands; for recursion.
};

// A global function, a bound method (then `self` is its object), a cycler or a joiner.
struct Function : Object {
  void drop_references() override { self = {}, items.clear(); }
  std::string name;
  Value self;
  std::vector<Value> items;
  std::size_t position = 0;
};

// Equal keys have equal hashes. Only for values that may be keys.
std::size_t hash_value(const Value& value);
bool is_hashable(const Value& value, int depth = 0);  // Also false for tuples nested absurdly deep.
bool keys_equal(const Value& a, const Value& b);

// Python's name of the value's type, as its messages have it.
std::string type_name(const Value& value);

}  // namespace plait::jinja
