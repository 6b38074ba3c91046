// SPDX-License-Identifier: Apache-2.0
#include "push/pushed_profile.h"

#include <gtest/gtest.h>

#include "snapshot/pprof.h"
#include "support/snapshots.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;

TEST(PushedProfile, HasTheSumsOfTheSnapshotAndFewLabels) {
  const Snapshot snapshot = test::random_snapshot(3, 400);
  const auto item = pushed_profile(snapshot);
  ASSERT_TRUE(item);
  const auto pushed = snapshot_of_pprof(item->pprof);
  ASSERT_TRUE(pushed);
  EXPECT_EQ(test::total_ns(*pushed), test::total_ns(snapshot));
  EXPECT_DOUBLE_EQ(test::total_episodes(*pushed), test::total_episodes(snapshot));
  EXPECT_EQ(pushed->begin, snapshot.begin);
  for (const StackEntry& entry : pushed->entries) {
    EXPECT_EQ(entry.thread_comm + entry.waker_comm, "");
    EXPECT_EQ(entry.pid + entry.waker_pid, 0U);
    EXPECT_FALSE(entry.in_progress);
    EXPECT_TRUE(entry.waker_user.empty() && entry.waker_kernel.empty());
  }
}

TEST(PushedProfile, AddsUpWhatDiffersInThreadProcessAndWaker) {
  Snapshot snapshot;
  snapshot.frames = {{.function = "f"}};
  for (std::uint32_t pid = 1; pid <= 3; ++pid) {
    snapshot.entries.push_back({.pid = pid,
                                .comm = "web",
                                .thread_comm = "t" + std::to_string(pid),
                                .cgroup = "/a",
                                .user = {0},
                                .waker_comm = "w" + std::to_string(pid),
                                .ns = pid,
                                .episodes = 1});
  }
  const auto pushed = snapshot_of_pprof(pushed_profile(snapshot)->pprof);
  ASSERT_EQ(pushed->entries.size(), 1U);
  EXPECT_EQ(pushed->entries[0].ns, 6U);
  EXPECT_EQ(pushed->entries[0].comm, "web");
  EXPECT_EQ(pushed->entries[0].cgroup, "/a");
}

TEST(PushedProfile, SaysWhatTheWaitsAreFor) {
  Snapshot snapshot;
  snapshot.frames = {{.function = "f"}};
  for (const WaitFor wait_for : {WaitFor::Lock, WaitFor::Work}) {
    snapshot.entries.push_back({.comm = "web", .wait_for = wait_for, .user = {0}, .ns = 1});
  }
  const auto pushed = snapshot_of_pprof(pushed_profile(snapshot)->pprof);
  ASSERT_EQ(pushed->entries.size(), 2U);
  EXPECT_EQ(pushed->entries[0].wait_for, WaitFor::Lock);
  EXPECT_EQ(pushed->entries[1].wait_for, WaitFor::Work);
}

TEST(PushedProfile, EndsAfterItsLengthWhateverTheClockDid) {
  Snapshot snapshot = test::ordinary_snapshot();
  snapshot.duration = 60s;
  snapshot.end = snapshot.begin - 1h;
  EXPECT_EQ(pushed_profile(snapshot)->end, snapshot.begin + 60s);
}

}  // namespace
}  // namespace offcpud
