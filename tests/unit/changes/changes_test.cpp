// SPDX-License-Identifier: Apache-2.0
#include "changes/changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "unit/changes/minutes.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using test::Amount;
using test::kEpoch;
using test::minute;
using test::waits;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr double kSecond = 1e9;

std::shared_ptr<const SubjectLabels> labels(const std::string& cgroup) {
  return std::make_shared<const SubjectLabels>(labels_of_cgroup(cgroup));
}

class ChangesTest : public ::testing::Test {
 protected:
  Changes compare() { return changes_between(before_, after_, scope_); }

  ChangesScope scope_;
  RangeSums before_{scope_, true}, after_{scope_, true};
};

TEST_F(ChangesTest, ComparesRatesOfRangesThatDifferInLength) {
  const std::string db = "/system.slice/db.service";
  for (int i = 0; i < 4; ++i) {
    before_.add(minute(kEpoch + i * 1min, {waits(db, WaitFor::Storage, "fsync", {6, 0.3})}));
  }
  after_.add(minute(kEpoch + 10min, {waits(db, WaitFor::Storage, "fsync", {12, 0.3})}));
  const Changes changes = compare();
  ASSERT_THAT(changes.rows, SizeIs(1));
  const ChangedWait& row = changes.rows[0];
  EXPECT_EQ(row.place.unit, "db.service");
  EXPECT_EQ(row.cgroup, db);
  EXPECT_NEAR(row.before, 0.1, 1e-9);
  EXPECT_NEAR(row.after, 0.2, 1e-9);
  EXPECT_NEAR(row.before_error, 0.6 / 240, 1e-9) << "variances add up";
  EXPECT_NEAR(row.after_error, 0.3 / 60, 1e-9);
  EXPECT_NEAR(*row.sigma(), 0.1 / std::hypot(0.6 / 240, 0.3 / 60), 1e-6);
  EXPECT_TRUE(row.significant());
  EXPECT_NEAR(row.most_before, 0.1, 1e-9);
}

TEST_F(ChangesTest, CgroupsOfOneUnitAreOneRow) {
  before_.add(minute(kEpoch, {waits("/a.slice/x.service/one", WaitFor::Lock, "m", {1, 0}),
                              waits("/a.slice/x.service/two", WaitFor::Lock, "m", {2, 0})}));
  after_.add(minute(kEpoch + 1min, {waits("/a.slice/x.service", WaitFor::Lock, "m", {3, 0})}));
  const Changes changes = compare();
  ASSERT_THAT(changes.rows, SizeIs(1));
  EXPECT_NEAR(changes.rows[0].change(), 0, 1e-12);
  EXPECT_FALSE(changes.rows[0].significant());
}

TEST_F(ChangesTest, TheLargestSignificantChangeComesFirst) {
  const auto all = [](double big, double small, double unsure, double unknown) {
    return std::vector<StackEntry>{waits("/big", WaitFor::Lock, "a", {big, 0.1}),
                                   waits("/small", WaitFor::Answer, "b", {small, 0.1}),
                                   waits("/unsure", WaitFor::Lock, "c", {unsure, 40}),
                                   waits("/unknown", WaitFor::Unknown, "", {unknown, 0.1})};
  };
  before_.add(minute(kEpoch, all(30, 10, 60, 1)));
  after_.add(minute(kEpoch + 1min, all(1, 20, 120, 60)));
  const Changes changes = compare();
  std::vector<std::string> units;
  for (const ChangedWait& row : changes.rows) units.push_back(row.place.unit);
  EXPECT_THAT(units, ElementsAre("/big", "/small", "/unknown", "/unsure"))
      << "less is a change, too; what nobody can tell comes after what is known";
  EXPECT_EQ(changes.significant, 3U);
}

TEST_F(ChangesTest, WhatIsNewOrEndedHasTheErrorOfOneMissedWait) {
  // 4 samples that stand for 0.5 s each and lasted 0.1 s: variance 4 * 0.5 * 0.4.
  const Amount few{2, std::sqrt(4 * 0.5 * 0.4)};
  after_.add(minute(kEpoch + 1min, {waits("/new", WaitFor::Lock, "m", few)}));
  before_.add(minute(kEpoch, {waits("/ended", WaitFor::Lock, "m", few)}));
  const Changes changes = compare();
  ASSERT_THAT(changes.rows, SizeIs(2));
  for (const ChangedWait& row : changes.rows) {
    const bool is_new = row.place.unit == "/new";
    EXPECT_NEAR(is_new ? row.before_error : row.after_error, 0.4 / 60, 1e-9);
    EXPECT_FALSE(row.significant()) << "four samples may be chance";
  }
}

TEST_F(ChangesTest, LeavesIdleWaitsOutAndSaysHowMany) {
  StackEntry child = waits("/sh", WaitFor::Answer, "child", {30, 0});
  child.reason = OFFCPUD_BLOCKED_CHILD;
  before_.add(minute(kEpoch, {waits("/a", WaitFor::Work, "pool", {60, 0})}));
  after_.add(minute(kEpoch + 1min, {waits("/a", WaitFor::Work, "pool", {120, 0}),
                                    waits("/a", WaitFor::Timer, "nap", {6, 0}), child}));
  const Changes changes = compare();
  EXPECT_THAT(changes.rows, IsEmpty());
  const std::string text = changes_text(changes, scope_);
  EXPECT_THAT(text, HasSubstr("nothing waits longer or shorter than before"));
  EXPECT_THAT(text, HasSubstr("left out as idle: work 1.0 → 2.0, timer 0 → 0.10, own children 0 "
                              "→ 0.50; --idle compares them, too\n"));
  scope_.idle = true;
  RangeSums idle_before(scope_, true), idle_after(scope_, true);
  idle_before.add(minute(kEpoch, {waits("/a", WaitFor::Work, "pool", {60, 0})}));
  idle_after.add(minute(kEpoch + 1min, {waits("/a", WaitFor::Work, "other", {120, 0}), child}));
  const Changes idle = changes_between(idle_before, idle_after, scope_);
  ASSERT_THAT(idle.rows, SizeIs(2)) << "idle waits are summed over their sites";
  EXPECT_NEAR(idle.rows[0].change(), 1, 1e-9);
  EXPECT_THAT(changes_text(idle, scope_), Not(HasSubstr("left out")));
}

TEST_F(ChangesTest, WaitsForACpuAreExactAndHaveTheirOwnLength) {
  CpuStep step{.length = 60s, .begin = kEpoch, .end = kEpoch + 1min, .subjects = {}};
  const auto set = [&](double queued, double throttled, double ran) {
    step.subjects = {{.labels = labels("/etl.service"),
                      .running_ns = static_cast<std::uint64_t>(ran * kSecond),
                      .waited_ns = {static_cast<std::uint64_t>(queued * kSecond), 0,
                                    static_cast<std::uint64_t>(throttled * kSecond)}}};
  };
  set(3, 0, 6);
  before_.add(step);
  before_.add(step);
  before_.add(minute(kEpoch, {}));
  set(3, 30, 24);
  after_.add(step);
  after_.add(minute(kEpoch + 1min, {}));
  const Changes changes = compare();
  ASSERT_THAT(changes.rows, SizeIs(2));
  EXPECT_EQ(changes.rows[0].place.kind, kThrottledWait);
  EXPECT_NEAR(changes.rows[0].change(), 0.5, 1e-9);
  EXPECT_EQ(changes.rows[0].sigma(), std::nullopt);
  EXPECT_TRUE(changes.rows[0].significant());
  EXPECT_FALSE(changes.rows[1].significant()) << "as long as before";
  EXPECT_EQ(evidence_of(changes.rows[0], changes),
            "offcpuctl top --cgroup etl.service --sort runqueue");
  ASSERT_THAT(changes.running, SizeIs(1));
  EXPECT_NEAR(changes.running[0].before, 0.1, 1e-9);
  EXPECT_NEAR(changes.running[0].after, 0.4, 1e-9);
  EXPECT_THAT(changes_text(changes, scope_), HasSubstr("CPUs used: etl.service 0.10 → 0.40\n"));
}

TEST_F(ChangesTest, SaysThatWaitsForACpuAreNotKnown) {
  before_.add(minute(kEpoch, {}));
  after_.add(minute(kEpoch + 1min, {}));
  EXPECT_THAT(compare().notes, ElementsAre(HasSubstr("those of the earlier range are not known")));
}

TEST_F(ChangesTest, TheLastWindowsCountAsSnapshotsDo) {
  const auto text = [](const char* t) { return std::make_shared<const std::string>(t); };
  SiteWindow window{.begin = MonotonicTime(100s), .end = MonotonicTime(110s), .sites = {}};
  window.sites = {{.cgroup = text("/db.service"),
                   .site = text("row-lock"),
                   .wait_for = WaitFor::Lock,
                   .time = {.ns = 80 * kSecond, .variance_ns2 = 4 * kSecond * kSecond}}};
  before_.add(minute(kEpoch, {waits("/db.service", WaitFor::Lock, "row-lock", {6, 0})}));
  after_.add(minute(kEpoch + 1min, {}));
  after_.add(window, kEpoch + 2min + 10s);
  const Changes changes = compare();
  ASSERT_THAT(changes.rows, SizeIs(1));
  EXPECT_NEAR(changes.rows[0].after, 80.0 / 70, 1e-9);
  EXPECT_NEAR(changes.rows[0].after_error, 2.0 / 70, 1e-9);
  EXPECT_EQ(changes.after.end, kEpoch + 2min + 10s);
}

TEST_F(ChangesTest, FiltersByWhatWaitsAreForCgroupAndSite) {
  scope_.kinds.reset();
  scope_.kinds.set(static_cast<std::size_t>(WaitFor::Lock));
  scope_.cgroup = *CgroupFilter::parse("db");
  scope_.site = "row-lock";
  before_.add(minute(kEpoch, {}));
  after_.add(minute(kEpoch + 1min, {waits("/db.service", WaitFor::Lock, "row-lock", {6, 0}),
                                    waits("/db.service", WaitFor::Lock, "latch", {6, 0}),
                                    waits("/db.service", WaitFor::Answer, "row-lock", {6, 0}),
                                    waits("/web.service", WaitFor::Lock, "row-lock", {6, 0})}));
  EXPECT_THAT(compare().rows, SizeIs(1));
  EXPECT_THAT(compare().notes, IsEmpty()) << "nobody asked for waits for a CPU";
}

TEST_F(ChangesTest, WhoMayNotSeeDetailsGetsUnitsAndKinds) {
  RangeSums before(scope_, false), after(scope_, false);
  Snapshot snapshot = minute(kEpoch, {waits("/db.service", WaitFor::Lock, "row-lock", {6, 0}),
                                      waits("/db.service", WaitFor::Lock, "latch", {6, 0})});
  snapshot.frames = {{.function = "secret", .object = "db"}};
  snapshot.entries[0].user = {0};
  after.add(snapshot);
  before.add(minute(kEpoch, {}));
  const Changes changes = changes_between(before, after, scope_);
  ASSERT_THAT(changes.rows, SizeIs(1));
  EXPECT_EQ(changes.rows[0].place.site, "");
  EXPECT_THAT(changes.rows[0].functions, IsEmpty());
}

TEST_F(ChangesTest, ARowHasTheInnermostFunctionsOfItsLargestStack) {
  Snapshot snapshot = minute(kEpoch, {waits("/a.service", WaitFor::Lock, "m", {1, 0}),
                                      waits("/a.service", WaitFor::Lock, "m", {5, 0})});
  for (const char* name : {"main", "serve", "get", "take", "lock", "wait"}) {
    snapshot.frames.push_back({.function = name, .object = "a"});
  }
  snapshot.entries[0].user = {0};
  snapshot.entries[1].user = {0, 1, 2, 3, 4, 5};
  after_.add(snapshot);
  before_.add(minute(kEpoch, {}));
  EXPECT_THAT(compare().rows.at(0).functions, ElementsAre("wait", "lock", "take", "get", "serve"));
}

TEST_F(ChangesTest, LostStacksAreARemarkAndNoRow) {
  Snapshot snapshot = minute(kEpoch, {});
  snapshot.frames = {{.function = std::string(kNoRoomForSamples), .object = ""}};
  snapshot.entries = {{.cgroup = std::string(kOtherCgroup), .user = {0}, .ns = 30'000'000'000}};
  snapshot.captured = {"snapshots.reasons=[lock]"};
  after_.add(snapshot);
  before_.add(minute(kEpoch, {}));
  const Changes changes = compare();
  EXPECT_THAT(changes.rows, IsEmpty());
  EXPECT_THAT(changes.notes,
              ::testing::IsSupersetOf(
                  {std::string("waits of 500 ms a second of the later range lost their stacks and "
                               "are in no row"),
                   std::string("the configuration left waits of the later range out: "
                               "snapshots.reasons=[lock]")}));
}

// Whoever may create cgroups can make any number of them.
TEST_F(ChangesTest, PlacesAreBoundedAndTheRestIsOther) {
  std::vector<StackEntry> entries;
  for (std::size_t i = 0; i < RangeSums::kMostPlaces + 10; ++i) {
    entries.push_back(waits("/u" + std::to_string(i) + ".service", WaitFor::Lock, "m", {1, 0}));
  }
  after_.add(minute(kEpoch, std::move(entries)));
  EXPECT_EQ(after_.places().size(), RangeSums::kMostPlaces + 1);
  EXPECT_DOUBLE_EQ(after_.places()
                       .at({std::string(kOtherCgroup), static_cast<std::size_t>(WaitFor::Lock), ""})
                       .ns,
                   10 * kSecond);
}

TEST_F(ChangesTest, TheTextIsOneLineARowAndEndsWithTheEvidence) {
  before_.add(minute(kEpoch, {waits("/s/db.service", WaitFor::Storage, "fsync", {6, 0.3})}));
  after_.add(minute(kEpoch + 60min, {waits("/s/db.service", WaitFor::Storage, "fsync", {12, 0.3}),
                                     waits("/s/a\nb", WaitFor::Lock, "", {30, 0})}));
  const std::string text = changes_text(compare(), scope_);
  EXPECT_THAT(text, HasSubstr("now:    2026-11-20 13:00:00 to 13:01:00 UTC (1 min)\n"
                              "before: 2026-11-20 12:00:00 to 12:01:00 UTC (1 min)\n"));
  EXPECT_THAT(
      text,
      HasSubstr("UNIT                       FOR       SITE                             BEFORE      "
                "NOW   CHANGE    ERROR    TIMES\n"
                "/s/a\\x0ab                  lock      -                                     0     "
                "0.50    +0.50    exact      new\n"
                "db.service                 storage   fsync                              0.10     "
                "0.20    +0.10     0.01     2.0×\n"));
  scope_.limit = 1;
  after_.add(
      minute(kEpoch + 61min, {waits("/s/db.service", WaitFor::Storage, "fsync", {40, 0.3})}));
  const std::string first = changes_text(compare(), scope_);
  EXPECT_THAT(first, HasSubstr("1 more rows changed; --limit 2 shows all\n"));
  EXPECT_THAT(first,
              HasSubstr("evidence: offcpuctl flame -o waits.html --cgroup db.service --for storage "
                        "--site fsync --from 2026-11-20T13:00:00.000Z --to "
                        "2026-11-20T13:02:00.000Z --base-from 2026-11-20T12:00:00.000Z --base-to "
                        "2026-11-20T12:01:00.000Z --normalize\n"));
}

}  // namespace
}  // namespace offcpud
