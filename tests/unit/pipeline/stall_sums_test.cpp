// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stall_sums.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "pipeline/stall.h"
#include "support/times.h"
#include "unit/pipeline/short_names.h"

namespace offcpud {
namespace {

using test::kAnswer;
using test::kLock;
using test::kSecond;
using test::kStorage;
using test::kUnknown;
using test::labels;

std::shared_ptr<const Stall> stall(const char* cgroup, std::optional<WaitFor> wait_for,
                                   std::uint64_t seconds, bool ended = false) {
  Stall stall;
  stall.labels = labels(cgroup);
  if (wait_for) {
    auto wait = std::make_shared<ExaminedWait>();
    wait->wait_for = *wait_for;
    stall.wait = wait;
  }
  stall.duration_ns = seconds * kSecond;
  stall.ended = ended;
  return std::make_shared<const Stall>(stall);
}

View view_of(std::vector<std::shared_ptr<const Stall>> stalls) {
  View view;
  for (const char* cgroup : {"(other)", "/a", "/b"}) {
    SubjectSeries row;
    row.labels = labels(cgroup);
    view.subjects.push_back(row);
  }
  auto list = std::make_shared<StallList>();
  list->stalls = std::move(stalls);
  view.stalls = list;
  sum_stalls(view);
  return view;
}

TEST(StallSums, ByCgroupAndWhatFor) {
  const View view = view_of({stall("/b", WaitFor::Lock, 40), stall("/b", WaitFor::Lock, 90),
                             stall("/b", std::nullopt, 12), stall("/gone", WaitFor::Answer, 15)});
  EXPECT_EQ(view.subjects[1].stalls, nullptr);
  const StallsInProgress& b = *view.subjects[2].stalls;
  EXPECT_EQ(b.threads[kLock], 2U);
  EXPECT_EQ(b.oldest_ns[kLock], 90 * kSecond);
  EXPECT_EQ(b.threads[kUnknown], 1U) << "told by its reason";
  EXPECT_EQ(b.shown, (1U << kLock) | (1U << kUnknown));
  EXPECT_EQ(view.subjects[0].stalls->threads[kAnswer], 1U) << "a cgroup without a row";
}

TEST(StallSums, OneThatEndedLeavesAZero) {
  const View view = view_of({stall("/a", WaitFor::Lock, 40, true)});
  ASSERT_NE(view.subjects[1].stalls, nullptr);
  EXPECT_EQ(view.subjects[1].stalls->threads[kLock], 0U);
  EXPECT_EQ(view.subjects[1].stalls->oldest_ns[kLock], 0U);
  EXPECT_EQ(view.subjects[1].stalls->shown, 1U << kLock);
}

TEST(StallSums, StallsWithoutARecordCountToo) {
  View view = view_of({stall("/a", WaitFor::Lock, 40)});
  auto list = std::make_shared<StallList>(*view.stalls);
  list->unlisted = {{labels("/a"), WaitFor::Lock, 3, 30 * kSecond},
                    {labels("/b"), WaitFor::Storage, 1, 80 * kSecond},
                    {labels("/gone"), WaitFor::Answer, 2, 20 * kSecond}};
  view.stalls = list;
  sum_stalls(view);
  EXPECT_EQ(view.subjects[1].stalls->threads[kLock], 4U);
  EXPECT_EQ(view.subjects[1].stalls->oldest_ns[kLock], 40 * kSecond);
  EXPECT_EQ(view.subjects[2].stalls->threads[kStorage], 1U);
  EXPECT_EQ(view.subjects[2].stalls->oldest_ns[kStorage], 80 * kSecond);
  EXPECT_EQ(view.subjects[2].stalls->shown, 1U << kStorage);
  EXPECT_EQ(view.subjects[0].stalls->threads[kAnswer], 2U);
}

View with_window(View view, WaitWindow window) {
  view.waits = std::make_shared<const WaitWindow>(std::move(window));
  sum_stalls(view);
  return view;
}

// The window knows who holds the lock of thread 1, and whom process 20 asked. Of the others nobody
// does.
TEST(StallSums, ByWhomTheyWaitOn) {
  Stall held = *stall("/a", WaitFor::Lock, 40), unheld = held, asks = held;
  held.tid = 1;
  held.since_ns = unheld.since_ns = 77;
  unheld.tid = 2;
  asks.local_tgid = 20;
  asks.wait = stall("/a", WaitFor::Answer, 1)->wait;
  View view = view_of({std::make_shared<const Stall>(held), std::make_shared<const Stall>(unheld),
                       std::make_shared<const Stall>(asks), stall("/a", WaitFor::Lock, 9, true)});
  EXPECT_EQ(
      view.subjects[1].stalls->on,
      (std::vector<StallsOn>{{WaitFor::Lock, "(unknown)", 2}, {WaitFor::Answer, "(unknown)", 1}}));
  WaitWindow window;
  window.held = {{.tid = 1,
                  .since_ns = 77,
                  .holder_cgroup = "/system.slice/night\\x2dreport.service",
                  .holder = std::make_shared<const LockHolder>()}};
  PeerWaits peer;
  peer.pid = 20;
  peer.wait_for = WaitFor::Answer;
  peer.on = "remote:10.0.0.5:443";
  peer.time.ns = 1;
  window.peers = {peer};
  view = with_window(std::move(view), std::move(window));
  EXPECT_EQ(view.subjects[1].stalls->on,
            (std::vector<StallsOn>{{WaitFor::Lock, "(unknown)", 1},
                                   {WaitFor::Lock, "night-report.service", 1},
                                   {WaitFor::Answer, "remote:10.0.0.5:443", 1}}));
  auto list = std::make_shared<StallList>(*view.stalls);
  list->unlisted = {{labels("/a"), WaitFor::Lock, 3, 30 * kSecond}};
  view.stalls = list;
  sum_stalls(view);
  EXPECT_EQ(view.subjects[1].stalls->on[0], (StallsOn{WaitFor::Lock, "(unknown)", 4}));
  EXPECT_EQ(view.subjects[1].stalls->threads[kLock], 5U);
}

TEST(StallSums, OfTwelveOnWhomThreadsWaitTheTenWithMostAreNamed) {
  std::vector<std::shared_ptr<const Stall>> stalls;
  WaitWindow window;
  for (std::uint32_t unit = 1; unit <= 12; ++unit) {
    for (std::uint32_t thread = 0; thread < unit; ++thread) {
      Stall one = *stall("/a", WaitFor::Lock, 40);
      one.tid = 100 * unit + thread;
      stalls.push_back(std::make_shared<const Stall>(one));
      window.held.push_back({.tid = one.tid,
                             .holder_cgroup = "/x/" + std::to_string(unit) + ".service",
                             .holder = std::make_shared<const LockHolder>()});
    }
  }
  const View view = with_window(view_of(std::move(stalls)), std::move(window));
  const auto& on = view.subjects[1].stalls->on;
  ASSERT_EQ(on.size(), 11U);
  EXPECT_EQ(on[0], (StallsOn{WaitFor::Lock, "(other)", 3}));
  std::uint32_t threads = 0;
  for (const StallsOn& each : on) threads += each.threads;
  EXPECT_EQ(threads, view.subjects[1].stalls->threads[kLock]);
}

TEST(StallSums, ThreadsInDeadlocksByCgroup) {
  View view = view_of({});
  sum_deadlocks(view);
  EXPECT_EQ(view.subjects[1].deadlocked, 0U);
  const HeldWait of_a{.tid = 1, .cgroup = "/a"}, of_b{.tid = 2, .cgroup = "/b"};
  const HeldWait of_gone{.tid = 3, .cgroup = "/gone"};
  view.deadlocks = std::make_shared<const std::vector<Deadlock>>(
      std::vector<Deadlock>{{of_a, of_b}, {of_b, of_gone}});
  sum_deadlocks(view);
  EXPECT_EQ(view.subjects[0].deadlocked, 1U);
  EXPECT_EQ(view.subjects[1].deadlocked, 1U);
  EXPECT_EQ(view.subjects[2].deadlocked, 2U);
}

}  // namespace
}  // namespace offcpud
