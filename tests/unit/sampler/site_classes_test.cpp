// SPDX-License-Identifier: Apache-2.0
#include "sampler/site_classes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace offcpud {
namespace {

std::shared_ptr<const SiteRules> rules() {
  auto parsed = parse_site_rules(R"(
sites:
  - {name: shop-pool, for: lock, exe: shopd, match: "... < shop::acquire"}
  - {name: kernel-named, for: storage, kernel: "... < submit_bio_wait", reason: disk}
)",
                                 "f.yaml");
  EXPECT_TRUE(parsed) << parsed.error().message();
  auto rules = SiteRules::make(*parsed);
  EXPECT_TRUE(rules) << rules.error().message();
  return *rules;
}

StackFrame user(std::string function) {
  return {.function = std::move(function), .object = "shopd", .build_id = "ab", .address = 1};
}

StackFrame kernel(std::string function) {
  return {.function = std::move(function), .object = "[kernel]", .kernel = true};
}

// The frames of a snapshot grow from entry to entry, and two frames may have one name.
TEST(SiteClasses, ClassifiesEntriesByNamesReasonAndProcess) {
  WaitClassifier classifier(rules());
  SiteClasses classes(classifier);
  Snapshot snapshot;
  snapshot.frames = {user("main"), user("shop::acquire")};
  StackEntry entry{.comm = "shopd", .reason = OFFCPUD_BLOCKED_CONDVAR, .user = {0, 1}};
  classes.classify(snapshot, entry);
  EXPECT_EQ(entry.wait_for, WaitFor::Lock);
  EXPECT_EQ(entry.site, "shop-pool");

  StackEntry other{.comm = "other", .reason = OFFCPUD_BLOCKED_CONDVAR, .user = {0, 1}};
  classes.classify(snapshot, other);
  EXPECT_EQ(other.wait_for, WaitFor::Unknown);
  EXPECT_EQ(other.site, "");

  // A function of a program is none of the kernel, whatever its name.
  snapshot.frames.push_back(user("submit_bio_wait"));
  snapshot.frames.push_back(kernel("submit_bio_wait"));
  snapshot.frames.push_back(kernel("schedule"));
  StackEntry in_program{.comm = "shopd", .reason = OFFCPUD_BLOCKED_DISK, .user = {0, 2}};
  classes.classify(snapshot, in_program);
  EXPECT_EQ(in_program.site, "");
  StackEntry disk{.comm = "shopd", .reason = OFFCPUD_BLOCKED_DISK, .user = {0}, .kernel = {3, 4}};
  classes.classify(snapshot, disk);
  EXPECT_EQ(disk.wait_for, WaitFor::Storage);
  EXPECT_EQ(disk.site, "kernel-named");
  StackEntry kernel_mutex{.comm = "shopd", .reason = OFFCPUD_BLOCKED_KERNEL, .kernel = {3, 4}};
  classes.classify(snapshot, kernel_mutex);
  EXPECT_EQ(kernel_mutex.site, "") << "another reason";
}

// What a snapshot costs: each function once, each stack by numbers.
TEST(SiteClasses, LooksUpEachFrameOfASnapshotOnce) {
  WaitClassifier classifier(rules());
  for (int snapshots = 0; snapshots < 3; ++snapshots) {
    SiteClasses classes(classifier);
    Snapshot snapshot;
    snapshot.frames = {user("main"), user("shop::acquire"), kernel("schedule")};
    for (int i = 0; i < 100; ++i) {
      StackEntry entry{.comm = "shopd", .user = {0, 1}, .kernel = {2}};
      classes.classify(snapshot, entry);
      EXPECT_EQ(entry.site, "shop-pool");
    }
  }
  EXPECT_EQ(classifier.work().waits, 300U);
  EXPECT_EQ(classifier.work().matched, 1U);
  EXPECT_EQ(classifier.work().names, 4U);
}

}  // namespace
}  // namespace offcpud
