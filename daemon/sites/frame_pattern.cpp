// SPDX-License-Identifier: Apache-2.0
#include "sites/frame_pattern.h"

#include <algorithm>
#include <array>

#include "base/printable.h"
#include "base/text.h"
#include "sites/glob.h"

namespace offcpud {
namespace {

constexpr std::string_view kDigits = "0123456789";
// These mean the same in every program.
constexpr std::string_view kMain = "main", kModule = "<module>";
constexpr std::string_view kPlace = "!fn_";  // "libc.so.6!fn_85e40"

// Whether the names are those of functions that a compiler made.
constexpr bool is_compiled(PatternKind kind) {
  return kind == PatternKind::User || kind == PatternKind::Kernel;
}

// What was meant as "..." or " < ". Templates of C++ have < without spaces, and > with a space only
// behind another one.
Status check_arrows(std::string_view part) {
  const std::size_t caller_first = part.find(" > ");
  if (caller_first != std::string_view::npos && !part.substr(0, caller_first).ends_with('>')) {
    return pattern_problem(quotation(part) +
                           " has >; write the innermost function first, with < before its caller");
  }
  if (part.starts_with("...")) {
    return pattern_problem(quotation(part) + " has no < behind the dots");
  }
  if (part.find(" <") == std::string_view::npos && part.find("< ") == std::string_view::npos) {
    return {};
  }
  return pattern_problem(quotation(part) + " has < with a space on one side only");
}

Result<FramePattern::Alternative> parse_alternative(std::string_view text, PatternKind kind) {
  const std::size_t at = text.rfind('@');
  const bool names_object = !is_plain_name(kind) && at != std::string_view::npos;
  const std::string_view function = names_object ? trimmed(text.substr(0, at)) : text;
  const std::string_view object = names_object ? trimmed(text.substr(at + 1)) : std::string_view();
  if (function.empty() || (names_object && object.empty())) {
    return pattern_problem(quotation(text) + " has nothing on one side of @");
  }
  if (kind == PatternKind::Kernel && names_object) {
    return pattern_problem(quotation(text) + " names an object; functions of the kernel have none");
  }
  if (is_compiled(kind) && without_compiler_suffix(function) != function) {
    return pattern_problem(
        quotation(function) +
        " ends in a suffix of compilers, which names have no more when they are compared: "
        "leave out " +
        quotation(function.substr(without_compiler_suffix(function).size())));
  }
  return FramePattern::Alternative{std::string(function), std::string(object)};
}

bool alternative_covers(const FramePattern::Alternative& one,
                        const FramePattern::Alternative& other) {
  const bool object_fits = one.object.empty() || glob_covers(one.object, other.object);
  return object_fits && glob_covers(one.function, other.function);
}

// Whether compilers write ".word.N" (`numbered`) or ".word" behind names.
bool is_suffix(std::string_view word, bool numbered) {
  constexpr std::array<std::string_view, 7> kWords = {"constprop", "isra", "part",      "cold",
                                                      "lto_priv",  "llvm", "localalias"};
  constexpr std::array<std::string_view, 5> kWithoutNumber = {"cold", "localalias", "abi0",
                                                              "abiinternal", "tailcall"};
  if (numbered) return std::ranges::find(kWords, word) != kWords.end();
  return std::ranges::find(kWithoutNumber, word) != kWithoutNumber.end();
}

}  // namespace

Result<FramePattern> FramePattern::parse(std::string_view text, PatternKind kind) {
  FramePattern pattern{.text = {}, .kind = kind, .alternatives = {}};
  while (true) {
    const std::size_t bar = text.find('|');
    const std::string_view part = trimmed(text.substr(0, bar));
    if (part.empty()) return pattern_problem("a name is missing before, behind or between < and |");
    TRY_VOID(check_arrows(part));
    TRY(auto alternative, parse_alternative(part, kind));
    pattern.text.append(pattern.text.empty() ? "" : " | ").append(part);
    pattern.alternatives.push_back(std::move(alternative));
    if (pattern.alternatives.size() > kMostAlternatives) {
      return pattern_problem("more than " + std::to_string(kMostAlternatives) +
                             " alternatives in one place: two rules may have the same name");
    }
    if (bar == std::string_view::npos) return pattern;
    text.remove_prefix(bar + 1);
  }
}

const FramePattern::Alternative* FramePattern::first_fit(std::string_view function,
                                                         std::string_view object) const {
  const ComparedName frame = compared_name(kind, function, object);
  const auto fits = [&](const Alternative& each) {
    if (!each.object.empty() && !glob_matches(each.object, frame.object)) return false;
    if (each.function == kAnyFunction) return true;
    if (!frame.has_name) return frame.has_start && each.function == kWithoutSymbol;
    const bool cut = kind == PatternKind::Exe && frame.name.size() == kLongestComm &&
                     !is_glob(each.function) && each.function.starts_with(frame.name);
    return cut || glob_matches(each.function, frame.name);
  };
  const auto found = std::ranges::find_if(alternatives, fits);
  return found == alternatives.end() ? nullptr : &*found;
}

bool FramePattern::covers(const FramePattern& other) const {
  return std::ranges::all_of(other.alternatives, [this](const Alternative& each) {
    return std::ranges::any_of(
        alternatives, [&](const Alternative& mine) { return alternative_covers(mine, each); });
  });
}

const FramePattern::Alternative* FramePattern::first_short_name() const {
  const bool is_interpreted = kind == PatternKind::Interpreted;
  const auto is_short = [is_interpreted](const Alternative& each) {
    if (!each.object.empty() && each.object != "*") return false;
    if (each.function == kAnyFunction || each.function == (is_interpreted ? kModule : kMain)) {
      return false;
    }
    const auto stars = static_cast<std::size_t>(std::ranges::count(each.function, '*'));
    if (each.function.size() - stars >= kLeastOwnName) return false;
    return is_interpreted || (each.function.find("::") == std::string::npos &&
                              each.function.find('.') == std::string::npos);
  };
  const auto found = std::ranges::find_if(alternatives, is_short);
  return found == alternatives.end() ? nullptr : &*found;
}

std::string_view without_compiler_suffix(std::string_view function) {
  // As demanglers write it: "f() [clone .cold]".
  if (function.ends_with(']')) function = function.substr(0, function.find(" [clone ."));
  while (true) {
    std::string_view rest = function;
    std::size_t dot = rest.rfind('.');
    if (dot == std::string_view::npos || dot == 0) return function;
    const bool numbered =
        dot + 1 < rest.size() && rest.find_first_not_of(kDigits, dot + 1) == std::string_view::npos;
    if (numbered) {
      rest = rest.substr(0, dot);
      dot = rest.rfind('.');
      if (dot == std::string_view::npos || dot == 0) return function;
    }
    if (!is_suffix(rest.substr(dot + 1), numbered)) return function;
    function = rest.substr(0, dot);
  }
}

bool is_function_name(std::string_view function) {
  return !function.empty() && function.front() != '[' &&
         function.find(kPlace) == std::string_view::npos;
}

std::string_view object_of_frame(std::string_view function, std::string_view object) {
  if (!object.empty()) return object;
  const std::size_t place = function.rfind(kPlace);
  return place == std::string_view::npos ? std::string_view() : function.substr(0, place);
}

ComparedName compared_name(PatternKind kind, std::string_view name, std::string_view object) {
  if (kind == PatternKind::Interpreted) {
    return {.name = name,
            .object = object,
            .has_name = name.size() <= kLongestFrameName && !name.empty() && name.front() != '['};
  }
  const bool plain = is_plain_name(kind);
  const bool has_name = name.size() <= kLongestFrameName && (plain || is_function_name(name));
  return {.name = has_name && !plain ? without_compiler_suffix(name) : name,
          .object = object_of_frame(name, object),
          .has_name = has_name,
          .has_start = !has_name && !plain && name.find(kPlace) != std::string_view::npos};
}

std::string text_of(const FramePattern::Alternative& alternative) {
  return alternative.object.empty() ? alternative.function
                                    : alternative.function + "@" + alternative.object;
}

bool is_scheduler_function(std::string_view kernel_function) {
  return kernel_function.starts_with("schedule") || kernel_function.starts_with("__schedule");
}

bool is_passed_over(std::string_view object) {
  // "libc.so.6", "libc-2.31.so", "ld-linux-x86-64.so.2", "ld-musl-x86_64.so.1".
  constexpr std::array<std::string_view, 6> kNames = {"libc",     "libpthread", "libstdc++",
                                                      "libgcc_s", "libc++",     "libc++abi"};
  if (object.starts_with("ld-linux") || object.starts_with("ld-musl")) return true;
  const std::size_t end = object.find(".so");
  if (end == std::string_view::npos) return false;
  std::string_view name = object.substr(0, end);
  const std::size_t version = name.find_first_of(kDigits);  // "libc-2.31"
  if (version != std::string_view::npos && version > 0 && name[version - 1] == '-') {
    name = name.substr(0, version - 1);
  }
  return std::ranges::find(kNames, name) != kNames.end();
}

}  // namespace offcpud
