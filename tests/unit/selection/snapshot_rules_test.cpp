// SPDX-License-Identifier: Apache-2.0
#include "selection/snapshot_rules.h"

#include <gtest/gtest.h>

namespace offcpud {
namespace {

using namespace std::chrono_literals;

CaptureRules capture_rules_of(const Config::Snapshots& options) {
  Config config;
  config.snapshots = options;
  auto rules = capture_rules(config);
  EXPECT_TRUE(rules);
  return rules ? *std::move(rules) : CaptureRules{};
}

TEST(CaptureRules, LeaveNothingOutByDefault) {
  const CaptureRules rules = capture_rules_of({});
  EXPECT_EQ(rules.blocks, BlockFilter{});
  EXPECT_FALSE(rules.keeps_cgroup);
  EXPECT_EQ(rules.text, "");
}

TEST(CaptureRules, SayWhatTheyLeaveOut) {
  Config::Snapshots options;
  options.reasons = 1U << OFFCPUD_BLOCKED_DISK | 1U << OFFCPUD_BLOCKED_LOCK;
  options.min_duration = 100us;
  options.max_duration = 2s;
  options.kernel_threads = false;
  options.states = 0x2;
  const CaptureRules rules = capture_rules_of(options);
  EXPECT_EQ(rules.blocks.kinds, options.reasons);
  EXPECT_EQ(rules.blocks.min_ns, 100'000U);
  EXPECT_EQ(rules.blocks.max_ns, 2'000'000'000U);
  EXPECT_TRUE(rules.blocks.user_threads);
  EXPECT_FALSE(rules.blocks.kernel_threads);
  EXPECT_EQ(rules.blocks.task_state, 0x2U);  // TASK_UNINTERRUPTIBLE
  EXPECT_EQ(rules.text,
            "snapshots.reasons=[disk, lock]; snapshots.min_duration=100us; "
            "snapshots.max_duration=2s; snapshots.kernel_threads=false; "
            "snapshots.states=[uninterruptible]");
}

TEST(CaptureRules, TheFirstRuleForACgroupDecides) {
  const CaptureRules all_but = capture_rules_of(
      {.cgroups = {{.cgroup = "/a/keep", .keep = true}, {.cgroup = "/a/.*", .keep = false}}});
  EXPECT_TRUE(all_but.keeps_cgroup("/a/keep"));
  EXPECT_FALSE(all_but.keeps_cgroup("/a/other"));
  EXPECT_FALSE(all_but.keeps_cgroup("/a/other"));  // remembered
  EXPECT_TRUE(all_but.keeps_cgroup("/a"));         // the whole path must match
  EXPECT_TRUE(all_but.keeps_cgroup("/b"));

  const CaptureRules only = capture_rules_of(
      {.cgroups = {{.cgroup = "/a", .keep = true}, {.cgroup = "", .keep = false}}});
  EXPECT_TRUE(only.keeps_cgroup("/a"));
  EXPECT_FALSE(only.keeps_cgroup("/b"));
  EXPECT_EQ(only.text, "snapshots.cgroups=[{cgroup: /a, keep: true}, {keep: false}]");
}

TEST(CaptureRules, ACgroupMayBeAUnitByItsName) {
  const CaptureRules rules = capture_rules_of(
      {.cgroups = {{.cgroup = "nginx.service", .keep = true}, {.cgroup = "", .keep = false}}});
  EXPECT_TRUE(rules.keeps_cgroup("/system.slice/nginx.service"));
  EXPECT_FALSE(rules.keeps_cgroup("/system.slice/httpd.service"));
}

TEST(CaptureRules, RefuseAnExpressionThatDoesNotCompile) {
  Config config;
  config.snapshots.cgroups = {{.cgroup = "(", .keep = true}};
  EXPECT_FALSE(capture_rules(config));
}

}  // namespace
}  // namespace offcpud
