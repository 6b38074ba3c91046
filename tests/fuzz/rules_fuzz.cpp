// SPDX-License-Identifier: Apache-2.0
// Regular expressions of rules, and the names that they are tried on.
#include <regex>

#include "config/pattern.h"
#include "fuzz.h"
#include "selection/snapshot_rules.h"
#include "selection/stall_rules.h"
#include "text.h"

namespace offcpud::fuzz {

void test(std::string_view input) {
  ByteReader in(bytes_of(input));
  const std::string expression(take_text(in));
  const std::string name(take_text(in));
  const auto pattern = Pattern::parse(expression);
  if (!pattern) {
    return require(is_printable(pattern.error().message()), "an error is one line of text");
  }
  require(expression.size() <= Pattern::kLongest, "an expression is bounded");
  const bool matches = pattern->matches(name);
  require(!matches || is_utf8(name), "nothing matches what is no text");
  const bool literal =
      expression.find_first_not_of("abcdefghijklmnopqrstuvwxyz/_-0123456789") == std::string::npos;
  if (literal) require(matches == (expression == name), "a text matches itself, whole");

  Config::Stalls stalls;
  stalls.rules = {{.cgroup = expression, .comm = "", .reason = "", .threshold = {}}};
  require(static_cast<bool>(stall_policy(stalls, Config::Snapshots::kAllReasons)),
          "what is checked is compiled");
}

std::vector<std::string> seeds() {
  return {as_input({"/system\\.slice/.*", "/system.slice/a.service"}),
          as_input({"(a|b)*c", "ababac"}),
          as_input({"(?i)NGINX", "nginx"}),
          as_input({"\\p{Greek}+", "\u03b1"}),
          as_input({"(((a{0,9}){0,9}){0,9})", "aaaa"}),
          as_input({"abc", "abc"}),
          as_input({"(?P<n>x)", "x"}),
          as_input({"[[:^alpha:]]", "\xff"})};
}

}  // namespace offcpud::fuzz
