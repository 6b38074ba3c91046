// SPDX-License-Identifier: Apache-2.0
#include "config/rule_keys.h"

#include <string>
#include <vector>

#include "config/pattern.h"
#include "config/reason_names.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;

// Only checks the expression: where it is used, RE2 compiles it again.
Notation<std::string> expression(const std::string& of_what) {
  const auto check = [](std::string_view text) -> Status {
    TRY_VOID(Pattern::parse(text));
    return {};
  };
  return text_that(check, "a regular expression of RE2 for the whole " + of_what + ", up to " +
                              std::to_string(Pattern::kLongest) + " bytes");
}

Notation<std::string> expression() {
  return expression("text");
}

// As CgroupPattern reads it: an expression that begins with a letter or digit is for units.
Notation<std::string> cgroup_expression() {
  return expression(
      "path, such as /system\\.slice/.*, or for the name of a unit, such as nginx.service");
}

Notation<std::string> reason() {
  return one_of({kReasonNames.begin(), kReasonNames.end()}, {}, "is not a reason");
}

}  // namespace

std::span<const Setting<StallRule>> stall_rule_keys() {
  static const std::vector<Setting<StallRule>> kKeys = {
      setting<StallRule>("cgroup", member(&StallRule::cgroup), cgroup_expression()),
      setting<StallRule>("comm", member(&StallRule::comm), expression()),
      setting<StallRule>("reason", member(&StallRule::reason), reason()),
      setting<StallRule>(
          "threshold", member(&StallRule::threshold),
          or_word("never", duration_between<std::chrono::seconds>(1s, 24h, "10s, 10min, 1h"))),
  };
  return kKeys;
}

std::span<const Setting<ProcessRule>> process_rule_keys() {
  static const std::vector<Setting<ProcessRule>> kKeys = {
      setting<ProcessRule>("comm", member(&ProcessRule::comm), expression()),
      setting<ProcessRule>("exe", member(&ProcessRule::exe), expression()),
      setting<ProcessRule>("unit", member(&ProcessRule::unit), expression()),
      setting<ProcessRule>("cgroup", member(&ProcessRule::cgroup), cgroup_expression()),
  };
  return kKeys;
}

std::span<const Setting<CgroupRule>> cgroup_rule_keys() {
  static const std::vector<Setting<CgroupRule>> kKeys = {
      setting<CgroupRule>("cgroup", member(&CgroupRule::cgroup), cgroup_expression()),
      setting<CgroupRule>("keep", member(&CgroupRule::keep), flag()),
  };
  return kKeys;
}

}  // namespace offcpud
