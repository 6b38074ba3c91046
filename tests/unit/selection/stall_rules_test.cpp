// SPDX-License-Identifier: Apache-2.0
#include "selection/stall_rules.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using Seconds = std::optional<std::chrono::nanoseconds>;

constexpr std::uint32_t kNotIdleProne = 1U << OFFCPUD_BLOCKED_DISK | 1U << OFFCPUD_BLOCKED_LOCK |
                                        1U << OFFCPUD_BLOCKED_NETWORK | 1U << OFFCPUD_BLOCKED_PIPE |
                                        1U << OFFCPUD_BLOCKED_KERNEL |
                                        1U << OFFCPUD_BLOCKED_STOPPED | 1U << OFFCPUD_BLOCKED_OTHER;

StallRule rule(std::string cgroup, std::string comm, std::string reason,
               std::optional<std::chrono::seconds> threshold) {
  return {std::move(cgroup), std::move(comm), std::move(reason), threshold};
}

Config::Stalls options_of(std::vector<StallRule> rules) {
  Config::Stalls options;
  options.rules = std::move(rules);
  return options;
}

StallRules stall_rules_of(std::vector<StallRule> rules) {
  auto compiled = StallRules::compile(options_of(std::move(rules)));
  EXPECT_TRUE(compiled);
  return *std::move(compiled);
}

BlockFacts facts(std::size_t kind, std::string_view cgroup = "/a", std::string_view comm = "t",
                 std::string_view process = "p") {
  return {cgroup, comm, process, kind};
}

TEST(StallRules, WithoutRulesWhatIsNotIdleProneCountsAfterTheThreshold) {
  StallRules rules = stall_rules_of({});
  for (std::size_t kind = 0; kind < OFFCPUD_BLOCKED_KINDS; ++kind) {
    const bool counts = (kNotIdleProne >> kind & 1U) != 0;
    EXPECT_EQ(rules.thresholds(facts(kind)).by_reason, counts ? Seconds(10s) : Seconds()) << kind;
  }
  EXPECT_EQ(rules.thresholds(facts(OFFCPUD_RUNQ_WAKEUP)).by_reason, std::nullopt);
  EXPECT_EQ(rules.filter().kinds, kNotIdleProne);
  EXPECT_EQ(rules.filter().min_ns, 10'000'000'000U);
}

TEST(StallRules, ACgroupMayBeAUnitByItsName) {
  StallRules rules =
      stall_rules_of({rule("backup@.*\\.service|/slow/.*", "", "", std::nullopt),
                      rule("a-b.service", "", "", 60s), rule(".*\\.service", "", "", 2s)});
  const auto disk = [&](const char* path) {
    return rules.thresholds(facts(OFFCPUD_BLOCKED_DISK, path)).by_reason;
  };
  EXPECT_EQ(disk("/system.slice/backup@db.service"), std::nullopt);
  EXPECT_EQ(disk("/system.slice/backup@db.service/child"), std::nullopt);
  EXPECT_EQ(disk("/slow/x"), std::nullopt) << "the other half of the expression is of paths";
  EXPECT_EQ(disk("/system.slice/a\\x2db.service"), Seconds(60s));
  EXPECT_EQ(disk("/system.slice/other.service"), Seconds(2s));
  EXPECT_EQ(disk("/system.slice/other.service/child"), Seconds(10s)) << "not the whole path";
}

TEST(StallRules, TheFirstRuleThatMatchesDecides) {
  StallRules rules = stall_rules_of({rule("/backup.*", "", "", std::nullopt),
                                     rule("", "cp|mv", "disk", 60s), rule("", "", "disk", 2s)});
  EXPECT_EQ(rules.thresholds(facts(OFFCPUD_BLOCKED_DISK, "/backup.service", "cp")).by_reason,
            std::nullopt);
  EXPECT_EQ(rules.thresholds(facts(OFFCPUD_BLOCKED_DISK, "/a/backup", "cp")).by_reason,
            Seconds(60s));
  EXPECT_EQ(rules.thresholds(facts(OFFCPUD_BLOCKED_DISK, "/a", "t", "mv")).by_reason, Seconds(60s));
  EXPECT_EQ(rules.thresholds(facts(OFFCPUD_BLOCKED_DISK, "/a", "cpp")).by_reason, Seconds(2s));
  EXPECT_EQ(rules.thresholds(facts(OFFCPUD_BLOCKED_LOCK, "/a", "cp")).by_reason, Seconds(10s));
}

TEST(StallRules, AnIdleProneReasonCountsOnlyWhenItIsNamed) {
  StallRules rules = stall_rules_of({rule("", "db", "", 5s), rule("", "db", "condvar", 30s)});
  EXPECT_EQ(rules.thresholds(facts(OFFCPUD_BLOCKED_LOCK, "/a", "db")).by_reason, Seconds(5s));
  EXPECT_EQ(rules.thresholds(facts(OFFCPUD_BLOCKED_CONDVAR, "/a", "db")).by_reason, Seconds(30s));
  EXPECT_EQ(rules.thresholds(facts(OFFCPUD_BLOCKED_CONDVAR)).by_reason, std::nullopt);
  EXPECT_EQ(rules.thresholds(facts(OFFCPUD_BLOCKED_POLL, "/a", "db")).by_reason, std::nullopt);
  EXPECT_EQ(rules.filter().kinds, kNotIdleProne | 1U << OFFCPUD_BLOCKED_CONDVAR);
  EXPECT_EQ(rules.filter().min_ns, 5'000'000'000U);
}

// What is known to be actionable has no idle-prone reason; rules that name none hold for it.
TEST(StallRules, AnActionableBlockCountsWhateverItsReason) {
  const std::vector<StallRule> written = {rule("/quiet", "", "", std::nullopt),
                                          rule("", "db", "", 5s), rule("", "web", "poll", 30s),
                                          rule("", "web", "lock", 3s)};
  StallRules rules = stall_rules_of(written);
  const StallThresholds plain = rules.thresholds(facts(OFFCPUD_BLOCKED_POLL));
  EXPECT_EQ(plain.by_reason, std::nullopt);
  EXPECT_EQ(plain.actionable, Seconds(10s));
  EXPECT_FALSE(plain.reason_named);
  EXPECT_EQ(rules.thresholds(facts(OFFCPUD_BLOCKED_POLL, "/quiet")).actionable, std::nullopt);
  EXPECT_EQ(rules.thresholds(facts(OFFCPUD_BLOCKED_POLL, "/a", "db")).actionable, Seconds(5s));
  const StallThresholds named = rules.thresholds(facts(OFFCPUD_BLOCKED_POLL, "/a", "web"));
  EXPECT_EQ(named.by_reason, Seconds(30s));
  EXPECT_EQ(named.actionable, Seconds(30s));
  EXPECT_TRUE(named.reason_named);
  EXPECT_FALSE(rules.thresholds(facts(OFFCPUD_BLOCKED_LOCK, "/a", "web")).reason_named)
      << "a rule about a reason that counts anyway says how long, not whether";
  EXPECT_EQ(rules.named_kinds(), 1U << OFFCPUD_BLOCKED_POLL);
  EXPECT_EQ(least_threshold(options_of(written)), 3s);
  EXPECT_EQ(stall_policy(options_of(written), kNotIdleProne)->filter.min_ns, 3'000'000'000U);
}

TEST(StallRules, TheFilterLeavesOutWhatNoBlockCanReach) {
  // Network never; disk after a minute whatever comes later; the rest as usual.
  const StallRules rules =
      stall_rules_of({rule("", "", "network", std::nullopt), rule("/x", "", "disk", 90s),
                      rule("", "", "disk", 60s), rule("", "", "disk", 1s)});
  EXPECT_EQ(rules.filter().kinds, kNotIdleProne & ~(1U << OFFCPUD_BLOCKED_NETWORK));
  EXPECT_EQ(rules.filter().min_ns, 10'000'000'000U);

  const StallFilter none = stall_rules_of({rule("", "", "", std::nullopt)}).filter();
  EXPECT_EQ(none.kinds, 0U);
  EXPECT_EQ(none.min_ns, UINT64_MAX);
}

// The answers that are remembered are those of the rules, also beyond what is remembered.
TEST(StallRules, RemembersWhatItDecided) {
  StallRules rules = stall_rules_of({rule("", "t1.*", "", 3s)});
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 12'000; ++i) {
      const std::string comm = "t" + std::to_string(i);
      ASSERT_EQ(rules.thresholds(facts(OFFCPUD_BLOCKED_LOCK, "/a", comm)).by_reason,
                comm.starts_with("t1") ? Seconds(3s) : Seconds(10s));
    }
  }
  // Names are told apart where they are joined.
  EXPECT_EQ(rules.thresholds(facts(OFFCPUD_BLOCKED_LOCK, "/a", "t1", "")).by_reason, Seconds(3s));
  EXPECT_EQ(rules.thresholds(facts(OFFCPUD_BLOCKED_LOCK, "/at1", "", "")).by_reason, Seconds(10s));
}

TEST(StallRules, WhatDoesNotCompileIsAnError) {
  Config::Stalls options;
  options.rules = {rule("(", "", "", 1s)};
  EXPECT_FALSE(StallRules::compile(options));
  options.rules = {rule("", "", "wakeup", 1s)};
  EXPECT_FALSE(stall_policy(options, 0));
}

TEST(StallPolicy, OutlivesTheRulesItWasMadeOf) {
  StallPolicy policy;
  {
    Config::Stalls options;
    options.threshold = 7s;
    policy = *stall_policy(options, 0);
  }
  EXPECT_EQ(policy.thresholds(facts(OFFCPUD_BLOCKED_LOCK)).by_reason, Seconds(7s));
  EXPECT_EQ(policy.filter.min_ns, 7'000'000'000U);
}

}  // namespace
}  // namespace offcpud
