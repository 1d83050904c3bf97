// Result<T>: a value or an Error. Used by the public API and inside.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace plait {

enum class ErrorCode {
  kInvalidArgument,  // The caller asked for something that makes no sense: a flag, a request, a token id.
  kNotFound,         // A file, a model, a tensor or a key that is not there.
  kCorrupt,          // Bytes from outside that break the rules of their format.
  kUnsupported,      // Well-formed, but plait does not do it.
  kNoMemory,         // More memory is needed than may be taken.
  kBusy,             // A queue is full; the same call may succeed later.
  kCancelled,        // Somebody asked to stop.
  kIo,               // The operating system or the network failed.
  kTooLong,          // A prompt has more tokens than there is room for.
};

struct Error {
  ErrorCode code;
  std::string message;  // One sentence: where, what was found, what was wanted.
};

// What a function returns in place of a Result's value. Has the role of std::unexpected.
struct Unexpected {
  Error error;
};

inline Unexpected fail(ErrorCode code, std::string message) { return {Error{code, std::move(message)}}; }
inline Unexpected fail(Error error) { return {std::move(error)}; }

// Holds the members of std::expected<T, Error> that plait uses, under the same names.
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Unexpected unexpected) : state_(std::in_place_index<1>, std::move(unexpected.error)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  Error& error() { return std::get<1>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;
  Result() = default;
  Result(Unexpected unexpected) : error_(std::move(unexpected.error)), ok_(false) {}

  bool has_value() const { return ok_; }
  explicit operator bool() const { return ok_; }
  Error& error() { return error_; }
  const Error& error() const { return error_; }

 private:
  Error error_{};
  bool ok_ = true;
};

}  // namespace plait
