// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace offcpud {

// What a pattern is for: functions of programs; functions of the kernel; names of executables; why
// goroutines wait, in the words of Go's runtime; functions that an interpreter runs, whose object
// is their file.
enum class PatternKind { User, Kernel, Exe, Goroutine, Interpreted };
inline constexpr std::size_t kPatternKinds = 5;

// Whether such patterns are compared with whole names that are no functions.
constexpr bool is_plain_name(PatternKind kind) {
  return kind == PatternKind::Exe || kind == PatternKind::Goroutine;
}

// Stands for a function of which nothing is known but where it begins: `libc.so.6!fn_85e40`. Not
// for one with a name in the symbols of its object, nor for one in an object that was not read.
inline constexpr std::string_view kWithoutSymbol = "!fn";

// A pattern that every function fits.
inline constexpr std::string_view kAnyFunction = "*";

// The error of a pattern that is not allowed.
inline Error pattern_problem(const std::string& what) {
  return Error(what, ErrorKind::Configuration);
}

// A function or an executable by its name: `ProcSleep`, `gomp_*`, `poll@libc.so*`, or several of
// them, `LWLockAcquire | LWLockAcquireOrWait`, of which one must fit.
struct FramePattern {
  struct Alternative {
    std::string function;  // glob, or kWithoutSymbol
    std::string object;    // glob; empty: any object, also an unknown one

    friend bool operator==(const Alternative&, const Alternative&) = default;
  };

  std::string text;  // as it was written, but for its white space
  PatternKind kind = PatternKind::User;
  std::vector<Alternative> alternatives;  // none: not given

  static constexpr std::size_t kMostAlternatives = 100;

  // The error is a fragment that quotes the offending part and says what to write.
  static Result<FramePattern> parse(std::string_view text, PatternKind kind);

  // The first alternative that the function of the object, or the executable, fits; null: none.
  // PatternIndex finds the same for many patterns at once.
  [[nodiscard]] const Alternative* first_fit(std::string_view function,
                                             std::string_view object) const;

  // Whether everything that fits `other` certainly fits this. Both must be of one kind.
  [[nodiscard]] bool covers(const FramePattern& other) const;

  // The first alternative that names no object and is too short to mean one function only; null:
  // none. A name is long enough with kLeastOwnName bytes besides stars, or with `::` or `.` in it.
  // The latter does not count for interpreted functions, as many classes have the same name.
  static constexpr std::size_t kLeastOwnName = 12;
  [[nodiscard]] const Alternative* first_short_name() const;
};

// `function` without what compilers put behind a name for a part or a copy of a function:
// `.constprop.0`, `.isra.0`, `.part.3`, `.cold`, `.lto_priv.1`, `.llvm.123`, and Go's `.abi0`; and
// without `.tailcall`, which names code without a symbol in which the function ends
// (symbols/jumped_code.h).
std::string_view without_compiler_suffix(std::string_view function);

// Whether `function` is a name, not an address (`libc.so.6!fn_85e40`, `[libfoo.so+0x12]`) or a
// remark (`[jit]`, `[unknown]`).
bool is_function_name(std::string_view function);

// The object of a frame: `object` if it is known, else the one that such an address names. May be
// empty.
std::string_view object_of_frame(std::string_view function, std::string_view object);

// A frame, or an executable, as patterns are compared with it.
struct ComparedName {
  std::string_view name;    // a function without the compiler's suffix, or a plain name
  std::string_view object;  // object_of_frame(); may be empty
  bool has_name = false;    // false: only "*" fits, as for an address or too long a name
  bool has_start = false;   // without a name: kWithoutSymbol fits, too
};
ComparedName compared_name(PatternKind kind, std::string_view name, std::string_view object);

// "FUNCTION@OBJECT", as it is written.
std::string text_of(const FramePattern::Alternative& alternative);

// Functions with longer names fit no pattern, like those without a name: comparing them would take
// long and say little.
inline constexpr std::size_t kLongestFrameName = 4'096;

// The kernel cuts the name of a process to this length (TASK_COMM_LEN of linux/sched.h, without its
// NUL). That name stands for an executable of which nothing else is known.
inline constexpr std::size_t kLongestComm = 15;

// Whether every blocked thread leaves the CPU by this function of the kernel. Such functions are
// passed over, too.
bool is_scheduler_function(std::string_view kernel_function);

// Whether an object is a part of the C or C++ library or its loader. Nobody writes their functions
// into a rule, so a pattern that does not fit the innermost function may begin behind them.
bool is_passed_over(std::string_view object);

}  // namespace offcpud
