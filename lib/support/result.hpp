#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace shortcut {

/// What went wrong with a piece of input or of the environment. The message names the thing, the
/// value it had and what is allowed; it is complete without the caller adding anything.
struct Error {
  std::string message;
};

/// A T, or the reason why there is none. Bugs are assertions, never a Result.
template <class T>
class [[nodiscard]] Result {
 public:
  using Value = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  /// Only if ok().
  [[nodiscard]] const T& value() const& {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  [[nodiscard]] T& value() & {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  [[nodiscard]] T value() && {
    assert(ok());
    return std::move(*std::get_if<0>(&state_));
  }

  /// Only if not ok().
  [[nodiscard]] const Error& error() const {
    assert(!ok());
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<T, Error> state_;
};

/// Success, or the reason why not: `return {};` or `return Error{"..."};`.
template <>
class [[nodiscard]] Result<void> {
 public:
  using Value = void;

  Result() = default;
  Result(Error error) : failed_(true), error_(std::move(error)) {}  // NOLINT: implicit

  [[nodiscard]] bool ok() const { return !failed_; }
  explicit operator bool() const { return ok(); }

  /// Only if not ok().
  [[nodiscard]] const Error& error() const {
    assert(failed_);
    return error_;
  }

 private:
  bool failed_ = false;
  Error error_;
};

using Status = Result<void>;

}  // namespace shortcut
