// SPDX-License-Identifier: Apache-2.0
#include "snapshot/snapshot_merge.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <map>
#include <string>

#include "support/snapshots.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;

Snapshot sum_of(std::initializer_list<const Snapshot*> parts, const SnapshotFilter& filter = {}) {
  SnapshotSum sum(filter);
  for (const Snapshot* part : parts) sum.add(*part);
  return sum.take();
}

std::uint64_t ns_with(const SnapshotFilter& filter) {
  const Snapshot s = test::ordinary_snapshot();
  return test::total_ns(sum_of({&s}, filter));
}

constexpr std::uint64_t kPipe = 87'092'400, kSleep = 999'209'900, kWorker = 60'000'000'000;

// Whoever wrote the file of a snapshot may have written 292 years into it.
TEST(SnapshotSum, LengthsThatDoNotFitAreCutOff) {
  Snapshot a = test::ordinary_snapshot();
  a.duration = std::chrono::nanoseconds::max();
  EXPECT_EQ(sum_of({&a, &a}).duration, std::chrono::nanoseconds::max());
}

TEST(SnapshotSum, HasTheLongestSamplingIntervalUnlessOneIsNotKnown) {
  Snapshot a, b, c;
  a.sampling_interval = 10ms;
  b.sampling_interval = 30ms;
  EXPECT_EQ(sum_of({&a}).sampling_interval, 10ms);
  EXPECT_EQ(sum_of({&a, &b}).sampling_interval, 30ms);
  EXPECT_EQ(sum_of({&b, &a}).sampling_interval, 30ms);
  EXPECT_EQ(sum_of({&c, &a}).sampling_interval, 0ms);
  EXPECT_EQ(sum_of({&a, &c, &b}).sampling_interval, 0ms);
}

// A filter knows neither thread nor cgroup of what was lost, so it says how much that is.
TEST(SnapshotSum, SaysHowMuchTimeWithoutAStackAFilterLeftOut) {
  Snapshot s;
  s.frames = {{.function = "wait"},
              {.function = std::string(kNoRoomForSamples)},
              {.function = std::string(kNoRoomForStacks)}};
  s.entries = {{.comm = "a", .cgroup = "/a", .user = {0}, .ns = 1},
               {.comm = "offcpud", .cgroup = "(other)", .user = {1}, .ns = 20},
               {.comm = "offcpud", .cgroup = "(other)", .user = {2}, .ns = 300},
               {.comm = "imitator", .cgroup = "/a", .user = {1}, .ns = 4'000}};
  EXPECT_EQ(sum_of({&s}).lost_of_any_ns, 0U) << "they are entries";
  SnapshotFilter filter;
  filter.comm = "b";
  const Snapshot filtered = sum_of({&s, &s}, filter);
  EXPECT_TRUE(filtered.entries.empty());
  EXPECT_EQ(filtered.lost_of_any_ns, 640U);
}

TEST(SnapshotSum, HasTheLongestIntervalOfTheReasonsAskedFor) {
  Snapshot a, b, old;
  a.reason_intervals[OFFCPUD_BLOCKED_LOCK] = 5ms;
  b.reason_intervals[OFFCPUD_BLOCKED_LOCK] = 6ms;
  a.reason_intervals[OFFCPUD_BLOCKED_SLEEP] = 90s;
  a.sampling_interval = b.sampling_interval = 90s;
  old.sampling_interval = 30s;
  SnapshotFilter locks, busy;
  locks.reasons = 1U << OFFCPUD_BLOCKED_LOCK;
  busy.idle = false;
  EXPECT_EQ(sum_of({&a}).sampling_interval, 90s);
  EXPECT_EQ(sum_of({&a, &b}, locks).sampling_interval, 6ms);
  EXPECT_EQ(sum_of({&b, &a}, busy).sampling_interval, 90s) << "a sleep may be part of a lock";
  EXPECT_EQ(sum_of({&a, &b}).reason_intervals[OFFCPUD_BLOCKED_LOCK], 6ms);
  EXPECT_EQ(sum_of({&a, &old}, locks).sampling_interval, 30s);
  EXPECT_EQ(sum_of({&a, &old}).reason_intervals, ReasonIntervals{});
}

TEST(SnapshotSum, IsAssociativeAndCommutative) {
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    const Snapshot a = test::random_snapshot(3 * seed), b = test::random_snapshot(3 * seed + 1),
                   c = test::random_snapshot(3 * seed + 2);
    const Snapshot ab = sum_of({&a, &b}), bc = sum_of({&b, &c});
    const auto expected = test::amounts(sum_of({&a, &b, &c}));
    EXPECT_EQ(test::amounts(sum_of({&ab, &c})), expected);
    EXPECT_EQ(test::amounts(sum_of({&a, &bc})), expected);
    EXPECT_EQ(test::amounts(sum_of({&c, &b, &a})), expected);
    EXPECT_EQ(sum_of({&ab, &c}).duration, 180s);
    EXPECT_EQ(sum_of({&c, &ab}).begin, a.begin);
    EXPECT_EQ(sum_of({&c, &ab}).end, c.end);
  }
}

TEST(SnapshotSum, KeepsTotalsAndHasEachPlaceOnce) {
  const Snapshot a = test::random_snapshot(1, 300), b = test::random_snapshot(2, 300);
  const Snapshot sum = sum_of({&a, &b, &a});
  EXPECT_EQ(test::total_ns(sum), 2 * test::total_ns(a) + test::total_ns(b));
  EXPECT_DOUBLE_EQ(test::total_episodes(sum),
                   2 * test::total_episodes(a) + test::total_episodes(b));
  EXPECT_EQ(test::amounts(sum).size(), sum.entries.size());
}

TEST(SnapshotSum, SaysByWhatAnyOfThemWasNarrowed) {
  SnapshotSum sum{{}};
  for (const char* filter : {"b", "", "a", "b"}) {
    Snapshot snapshot = test::random_snapshot(1);
    snapshot.captured.clear();
    if (*filter != 0) snapshot.captured = {filter};
    sum.add(snapshot);
  }
  EXPECT_EQ(sum.take().captured, (std::vector<std::string>{"a", "b"}));
}

// As after new rules: each snapshot keeps what the rules of its time said.
TEST(SnapshotSum, KeepsApartWhatOneStackWasForAtDifferentTimes) {
  const Snapshot before = test::ordinary_snapshot();
  Snapshot after = before;
  after.entries[0].wait_for = WaitFor::Answer;
  after.entries[0].site = "pp-reply";
  after.entries[1].site = "pp-nap";
  const Snapshot sum = sum_of({&before, &after, &after});
  ASSERT_EQ(sum.entries.size(), 5U);
  EXPECT_EQ(test::total_ns(sum), 3 * test::total_ns(before));
  std::map<std::string, std::uint64_t> ns;
  for (const StackEntry& entry : sum.entries) ns[entry.site] = entry.ns;
  EXPECT_EQ(ns, (std::map<std::string, std::uint64_t>{{"pipe", kPipe},
                                                      {"pp-reply", 2 * kPipe},
                                                      {"sleep", kSleep},
                                                      {"pp-nap", 2 * kSleep},
                                                      {"kernel-thread", 3 * kWorker}}));
}

TEST(SnapshotSum, OfNothingIsEmpty) {
  EXPECT_EQ(sum_of({}), Snapshot{});
}

CgroupFilter at(const char* text) {
  return *CgroupFilter::parse(text);
}

TEST(SnapshotFilter, SelectsEntries) {
  EXPECT_EQ(ns_with({}), kPipe + kSleep + kWorker);
  EXPECT_EQ(ns_with({.cgroup = at("/system.slice")}), kPipe);
  EXPECT_EQ(ns_with({.cgroup = at("/system.slice/")}), kPipe);
  EXPECT_EQ(ns_with({.cgroup = at("/system.slic")}), 0U) << "a path, not a text";
  EXPECT_EQ(ns_with({.cgroup = at("/")}), kPipe + kSleep + kWorker);
  EXPECT_EQ(ns_with({.comm = "pp"}), kPipe);
  EXPECT_EQ(ns_with({.comm = "pp-reader"}), kPipe);
  EXPECT_EQ(ns_with({.comm = "p"}), 0U);
  EXPECT_EQ(ns_with({.frame = "nanosleep"}), kSleep);
  EXPECT_EQ(ns_with({.frame = "hrtimer"}), kSleep) << "on the waker's stack";
  EXPECT_EQ(ns_with({.frame = "libc.so"}), kPipe + kSleep);
  EXPECT_EQ(ns_with({.frame = "nowhere"}), 0U);
  EXPECT_EQ(ns_with({.pid = 300}), kWorker);
  SnapshotFilter reasons;
  reasons.reasons.reset(OFFCPUD_BLOCKED_SLEEP);
  EXPECT_EQ(ns_with(reasons), kPipe + kWorker);
  SnapshotFilter known;
  known.wait_for.reset(static_cast<std::size_t>(WaitFor::Unknown));
  EXPECT_EQ(ns_with(known), kSleep + kWorker);
  EXPECT_EQ(ns_with({.site = "pipe"}), kPipe);
  EXPECT_EQ(ns_with({.site = "kernel"}), 0U) << "the whole name";
  EXPECT_EQ(ns_with({.threads = SnapshotFilter::Threads::Kernel}), kWorker);
  EXPECT_EQ(ns_with({.threads = SnapshotFilter::Threads::User}), kPipe + kSleep);
  EXPECT_EQ(ns_with({.idle = false}), kPipe) << "neither for a timer nor for work";
  EXPECT_EQ(ns_with({.comm = "pp", .pid = 300}), 0U) << "all of them must hold";
}

TEST(SnapshotFilter, TakesFramesOffAndAddsUpWhatIsThenEqual) {
  Snapshot s = test::random_snapshot(9, 300);
  s.entries.push_back(s.entries.front());
  s.entries.back().kernel = {0};
  s.entries.push_back(s.entries.front());
  s.entries.back().user = {0};
  for (const auto frames : {SnapshotFilter::Frames::User, SnapshotFilter::Frames::Kernel}) {
    const Snapshot sum = sum_of({&s}, {.frames = frames});
    EXPECT_EQ(test::total_ns(sum), test::total_ns(s));
    EXPECT_LT(sum.entries.size(), s.entries.size());
    for (const StackEntry& entry : sum.entries) {
      const bool user = frames == SnapshotFilter::Frames::User;
      EXPECT_TRUE((user ? entry.kernel : entry.user).empty());
      EXPECT_TRUE((user ? entry.waker_kernel : entry.waker_user).empty());
    }
  }
}

TEST(SnapshotRange, HasWhatOverlaps) {
  const SnapshotName name = SnapshotName::of(test::ordinary_snapshot());
  EXPECT_TRUE(SnapshotRange{}.contains(name));
  EXPECT_TRUE((SnapshotRange{name.begin, name.begin + 1ms, {}}.contains(name)));
  EXPECT_TRUE((SnapshotRange{name.end - 1ms, name.end, {}}.contains(name)));
  EXPECT_FALSE((SnapshotRange{name.end, name.end + 1h, {}}.contains(name)));
  EXPECT_FALSE((SnapshotRange{name.begin - 1h, name.begin, {}}.contains(name)));
  EXPECT_TRUE((SnapshotRange{.sequence = 7}.contains(name)));
  EXPECT_FALSE((SnapshotRange{.sequence = 8}.contains(name)));
  SnapshotName instant = name;
  instant.end = instant.begin;
  EXPECT_TRUE((SnapshotRange{name.begin, name.begin + 1ms, {}}.contains(instant)));
}

}  // namespace
}  // namespace offcpud
