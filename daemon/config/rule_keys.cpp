// SPDX-License-Identifier: Apache-2.0
#include "config/rule_keys.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>

#include "base/hist_kind.h"
#include "base/printable.h"
#include "config/duration.h"
#include "config/pattern.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kNever = "never";
constexpr std::chrono::seconds kLeastThreshold = 1s;
constexpr std::chrono::seconds kMostThreshold = 24h;
constexpr std::span kReasons(kHistKindNames.data(), OFFCPUD_BLOCKED_KINDS);

Error refusal(std::string_view text, const std::string& why) {
  return Error(quotation(text) + " " + why, ErrorKind::Configuration);
}

// A key whose value is a pattern. RE2 compiles it once more where it is used; here it is checked.
template <class Rule, std::string Rule::*Member>
constexpr RuleKey<Rule> pattern_key(std::string_view name) {
  return {
      .name = name,
      .set = [](Rule& rule, std::string_view text) -> Status {
        TRY_VOID(Pattern::parse(text));
        rule.*Member = text;
        return {};
      },
      .text = [](const Rule& rule) -> std::optional<std::string> {
        if ((rule.*Member).empty()) return std::nullopt;
        return rule.*Member;
      },
      .allowed =
          [] {
            return "a regular expression of RE2 for the whole text, up to " +
                   std::to_string(Pattern::kLongest) + " bytes";
          },
  };
}

// What CgroupPattern does with it: an expression that begins with a letter or digit is for units.
template <class Rule, std::string Rule::*Member>
constexpr RuleKey<Rule> cgroup_key() {
  RuleKey<Rule> key = pattern_key<Rule, Member>("cgroup");
  key.allowed = [] {
    return "a regular expression of RE2 for the whole path, such as /system\\.slice/.*, or for the "
           "name of a unit, such as nginx.service, up to " +
           std::to_string(Pattern::kLongest) + " bytes";
  };
  return key;
}

Status set_reason(StallRule& rule, std::string_view text) {
  if (std::find(kReasons.begin(), kReasons.end(), text) == kReasons.end()) {
    return refusal(text, "is not a reason");
  }
  rule.reason = text;
  return {};
}

std::string allowed_reasons() {
  std::string text = "one of ";
  for (const std::string_view reason : kReasons) text.append(reason).append(", ");
  text.resize(text.size() - 2);
  return text;
}

Status set_threshold(StallRule& rule, std::string_view text) {
  if (text == kNever) {
    rule.threshold.reset();
    return {};
  }
  TRY(const auto duration, parse_duration(text));
  const auto whole = std::chrono::floor<std::chrono::seconds>(duration);
  if (duration < kLeastThreshold || duration > kMostThreshold) {
    return refusal(text, "is out of range");
  }
  if (whole != duration) return refusal(text, "is not a whole number of seconds");
  rule.threshold = whole;
  return {};
}

constexpr std::array kStallKeys = {
    cgroup_key<StallRule, &StallRule::cgroup>(),
    pattern_key<StallRule, &StallRule::comm>("comm"),
    RuleKey<StallRule>{
        .name = "reason",
        .set = set_reason,
        .text = [](const StallRule& rule) -> std::optional<std::string> {
          if (rule.reason.empty()) return std::nullopt;
          return rule.reason;
        },
        .allowed = allowed_reasons,
    },
    RuleKey<StallRule>{
        .name = "threshold",
        .set = set_threshold,
        .text = [](const StallRule& rule) -> std::optional<std::string> {
          return rule.threshold ? format_duration(*rule.threshold) : std::string(kNever);
        },
        .allowed =
            [] {
              return std::string("never, or a duration such as 10s, 10min, 1h (") +
                     format_duration(kLeastThreshold) + " to " + format_duration(kMostThreshold) +
                     ")";
            },
    },
};

constexpr std::array kProcessKeys = {
    pattern_key<ProcessRule, &ProcessRule::comm>("comm"),
    pattern_key<ProcessRule, &ProcessRule::exe>("exe"),
    pattern_key<ProcessRule, &ProcessRule::unit>("unit"),
    cgroup_key<ProcessRule, &ProcessRule::cgroup>(),
};

constexpr std::array kCgroupKeys = {
    cgroup_key<CgroupRule, &CgroupRule::cgroup>(),
    RuleKey<CgroupRule>{
        .name = "keep",
        .set = [](CgroupRule& rule, std::string_view text) -> Status {
          if (text != "true" && text != "false") return refusal(text, "is not known");
          rule.keep = text == "true";
          return {};
        },
        .text = [](const CgroupRule& rule) -> std::optional<std::string> {
          return rule.keep ? "true" : "false";
        },
        .allowed = [] { return std::string("true or false"); },
    },
};

}  // namespace

std::span<const RuleKey<StallRule>> stall_rule_keys() {
  return kStallKeys;
}

std::span<const RuleKey<ProcessRule>> process_rule_keys() {
  return kProcessKeys;
}

std::span<const RuleKey<CgroupRule>> cgroup_rule_keys() {
  return kCgroupKeys;
}

}  // namespace offcpud
