// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace offcpud {

// What went wrong, as far as callers can act on it. main() maps each kind to an exit code.
enum class ErrorKind {
  Internal,       // a system call or an invariant failed
  Usage,          // the command line is wrong
  Unsupported,    // this kernel or host lacks something that is needed
  Permission,     // a capability or a file permission is missing
  Configuration,  // a configuration file or value is wrong
  NotFound,       // what was asked for does not exist
  Output,         // what was asked for cannot be written
};

// The one error type. The function that fails states the fact ("open '/proc/kallsyms': Permission
// denied"); each caller may add one phrase in front with `with`. Messages are complete sentences
// for people, without source locations.
class Error {
 public:
  explicit Error(std::string message, ErrorKind kind = ErrorKind::Internal)
      : kind_(kind), message_(std::move(message)) {}

  // "operation 'object': strerror(code)". EPERM and EACCES become ErrorKind::Permission.
  static Error from_errno(int code, std::string_view operation, std::string_view object = {});

  [[nodiscard]] ErrorKind kind() const { return kind_; }
  [[nodiscard]] const std::string& message() const { return message_; }

  [[nodiscard]] Error with(std::string_view phrase) && {
    message_.insert(0, std::string(phrase) + ": ");
    return std::move(*this);
  }

 private:
  ErrorKind kind_;
  std::string message_;
};

// A value or an Error. Not thread-safe; cheap to move. Access to the side that is absent is a bug
// and aborts.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(*-explicit-*)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(*-explicit-*)

  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() & { return *std::get_if<0>(&state_); }
  const T& operator*() const& { return *std::get_if<0>(&state_); }
  T&& operator*() && { return std::move(*std::get_if<0>(&state_)); }
  T* operator->() { return std::get_if<0>(&state_); }
  const T* operator->() const { return std::get_if<0>(&state_); }
  const Error& error() const& { return *std::get_if<1>(&state_); }
  Error&& error() && { return std::move(*std::get_if<1>(&state_)); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(*-explicit-*)

  explicit operator bool() const { return !error_.has_value(); }
  const Error& error() const& { return *error_; }
  Error&& error() && { return std::move(*error_); }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace offcpud

#define OFFCPUD_CONCAT_(a, b) a##b
#define OFFCPUD_CONCAT(a, b) OFFCPUD_CONCAT_(a, b)

// A declaration cannot be put in parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
// TRY(auto x, expression): returns the error of `expression`, or declares x from its value. It is
// three statements, so it cannot be the unbraced body of an if.
#define TRY(declaration, expression) TRY_(declaration, expression, OFFCPUD_CONCAT(try_, __LINE__))
#define TRY_(declaration, expression, name)  \
  auto name = (expression);                  \
  if (!name) return std::move(name).error(); \
  declaration = *std::move(name)
// NOLINTEND(bugprone-macro-parentheses)

// TRY_VOID(expression): returns the error of a Status.
#define TRY_VOID(expression)                                                            \
  do {                                                                                  \
    if (auto try_void_ = (expression); !try_void_) return std::move(try_void_).error(); \
  } while (false)
