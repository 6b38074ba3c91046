// SPDX-License-Identifier: Apache-2.0
#include "pipeline/series_store.h"

#include <gtest/gtest.h>

#include "support/fake_reading_source.h"
#include "unit/pipeline/short_names.h"

namespace offcpud {
namespace {

using test::kDisk;
using test::kSleep;

class SeriesStoreTest : public testing::Test {
 protected:
  // Reads the kernel and credits everything to the path given for its id.
  void pass(const std::map<std::uint64_t, std::string>& paths) {
    const auto sample = kernel_.read();
    for (const CgroupReading& reading : sample->cgroups) {
      store_.account(paths.at(reading.cgroup_id), reading);
    }
    for (const CgroupReading& reading : sample->closed) {
      store_.account(paths.at(reading.cgroup_id), reading);
      store_.forget(paths.at(reading.cgroup_id), reading);
    }
  }

  std::uint64_t count(std::string_view path, offcpud_hist_kind kind) const {
    const auto found = store_.series().find(path);
    if (found == store_.series().end() || !found->second.histograms[kind]) return 0;
    return found->second.histograms[kind]->count();
  }

  FakeReadingSource kernel_;
  SeriesStore store_{100};
};

TEST_F(SeriesStoreTest, ReadingTheSameCountersTwiceCountsThemOnce) {
  kernel_.charge(7, kSleep, 1000, 3);
  pass({{7, "/a"}});
  pass({{7, "/a"}});
  EXPECT_EQ(count("/a", kSleep), 3U);
  EXPECT_EQ(store_.series().at("/a").histograms[kSleep]->sum_ns, 3000U);
}

TEST_F(SeriesStoreTest, RestartedUnitContinuesItsSeries) {
  kernel_.charge(7, kSleep, 1000, 3);
  pass({{7, "/u"}});
  kernel_.charge(8, kSleep, 1000, 2);  // new id, same path
  pass({{7, "/u"}, {8, "/u"}});
  EXPECT_EQ(count("/u", kSleep), 5U);
  kernel_.close(std::array<std::uint64_t, 1>{7});
  pass({{7, "/u"}, {8, "/u"}});
  pass({{8, "/u"}});
  EXPECT_EQ(count("/u", kSleep), 5U);
}

TEST_F(SeriesStoreTest, ANameThatComesLateMovesNothing) {
  kernel_.charge(7, kSleep, 1000, 3);
  pass({{7, "(unknown)"}});
  kernel_.charge(7, kSleep, 1000, 1);
  pass({{7, "/a"}});
  EXPECT_EQ(count("(unknown)", kSleep), 3U);
  EXPECT_EQ(count("/a", kSleep), 1U);
}

TEST_F(SeriesStoreTest, AClosedPlaceStartsFromZeroWhereverItComesBack) {
  kernel_.charge(7, kSleep, 1000, 3);
  pass({{7, "/a"}});
  kernel_.close(std::array<std::uint64_t, 1>{7});
  kernel_.charge(7, kSleep, 1000, 2);  // still alive: another place
  pass({{7, "/a"}});
  EXPECT_EQ(count("/a", kSleep), 5U);
}

TEST_F(SeriesStoreTest, WhatDoesNotFitIsSummedInOtherAndCounted) {
  store_.set_max_series(2);
  kernel_.charge(1, kSleep, 1000, 1);
  kernel_.charge(2, kSleep, 1000, 1);
  kernel_.charge(3, kSleep, 1000, 1);
  kernel_.charge(3, kDisk, 1000, 1);
  pass({{1, "/1"}, {2, "/2"}, {3, "/3"}});
  pass({{1, "/1"}, {2, "/2"}, {3, "/3"}});
  EXPECT_EQ(count("/1", kSleep) + count("/2", kSleep), 2U);
  EXPECT_EQ(count("(other)", kSleep), 1U);
  EXPECT_EQ(count("(other)", kDisk), 1U);
  EXPECT_EQ(count("/3", kSleep), 0U);
  EXPECT_EQ(store_.folded_series(), 2U);  // each once, however often it is credited
}

TEST_F(SeriesStoreTest, OtherKeepsWhatItHasWhenRoomComes) {
  store_.set_max_series(0);
  kernel_.charge(1, kSleep, 1000, 4);
  pass({{1, "/1"}});
  store_.set_max_series(10);
  kernel_.charge(1, kSleep, 1000, 1);
  pass({{1, "/1"}});
  EXPECT_EQ(count("(other)", kSleep), 4U);
  EXPECT_EQ(count("/1", kSleep), 1U);
}

TEST_F(SeriesStoreTest, FoldKeepsTotals) {
  kernel_.charge(1, kSleep, 1000, 4);
  kernel_.run(1, 50);
  kernel_.charge(2, kSleep, 1000, 1);
  pass({{1, "/a/1"}, {2, "/a/(removed)"}});
  store_.fold("/a/1", "/a/(removed)");
  EXPECT_FALSE(store_.contains("/a/1"));
  EXPECT_EQ(count("/a/(removed)", kSleep), 5U);
  EXPECT_EQ(store_.series().at("/a/(removed)").running_ns, 50U);
  EXPECT_EQ(store_.histogram_series(), 1U);
}

TEST_F(SeriesStoreTest, PreemptionsAndWakeupsFollowRunningTime) {
  kernel_.run(1, 50);
  kernel_.preempt(1, OFFCPUD_BY_KERNEL, 2);
  kernel_.wake(1, OFFCPUD_FROM_INTERRUPT, 3);
  pass({{1, "/u"}});
  pass({{1, "/u"}});
  kernel_.wake(2, OFFCPUD_FROM_INTERRUPT, 4);  // restarted
  kernel_.close(std::array<std::uint64_t, 1>{1});
  pass({{1, "/u"}, {2, "/u"}});
  const SubjectSeries& series = store_.series().at("/u");
  EXPECT_EQ(series.preemptions, (std::array<std::uint64_t, OFFCPUD_TAKERS>{0, 0, 2}));
  EXPECT_EQ(series.wakeups, (std::array<std::uint64_t, OFFCPUD_WAKERS>{0, 0, 0, 7}));

  store_.fold("/u", "/(removed)");
  EXPECT_EQ(store_.series().at("/(removed)").preemptions[OFFCPUD_BY_KERNEL], 2U);
  EXPECT_EQ(store_.series().at("/(removed)").wakeups[OFFCPUD_FROM_INTERRUPT], 7U);
}

TEST_F(SeriesStoreTest, CountersThatDoNotFitAreSummedInOther) {
  store_.set_max_series(1);
  kernel_.wake(1, OFFCPUD_FROM_KERNEL);
  kernel_.wake(2, OFFCPUD_FROM_KERNEL);
  kernel_.preempt(3, OFFCPUD_BY_SAME_CGROUP, 5);
  pass({{1, "/1"}, {2, "/2"}, {3, "/3"}});
  EXPECT_EQ(store_.series().size(), 2U);
  EXPECT_EQ(store_.series().at("(other)").wakeups[OFFCPUD_FROM_KERNEL], 1U);
  EXPECT_EQ(store_.series().at("(other)").preemptions[OFFCPUD_BY_SAME_CGROUP], 5U);
}

TEST_F(SeriesStoreTest, WhatIsAccountedForKeepsItsPathWhereverItsSeriesGo) {
  store_.set_max_series(1);
  kernel_.run(1, 10);
  kernel_.run(2, 20);
  kernel_.charge(2, kSleep, 1000, 2);
  kernel_.leave_out(2, 7);
  pass({{1, "/1"}, {2, "/2"}});  // "/2" has no room
  AccountedByPath accounted = store_.take_accounted();
  EXPECT_EQ(accounted.at("/1").accounted_ns, 10U);
  EXPECT_EQ(accounted.at("/2").accounted_ns, 2020U);
  EXPECT_EQ(accounted.at("/2").unaccounted_ns, 7U);
  EXPECT_FALSE(accounted.contains("(other)"));

  kernel_.leave_out(2, -9);  // counted twice
  pass({{1, "/1"}, {2, "/2"}});
  accounted = store_.take_accounted();
  EXPECT_EQ(accounted.size(), 1U);
  EXPECT_EQ(static_cast<std::int64_t>(accounted.at("/2").unaccounted_ns), -9);
}

TEST_F(SeriesStoreTest, WhatIsAccountedForDoesNotOutliveItsPath) {
  store_.set_max_series(1);
  kernel_.run(1, 10);
  kernel_.run(2, 20);
  kernel_.close(std::array<std::uint64_t, 1>{2});
  pass({{1, "/1"}, {2, "/2"}});
  store_.fold("/1", "/(removed)");
  EXPECT_TRUE(store_.take_accounted().empty());
}

TEST_F(SeriesStoreTest, PublishedHistogramsDoNotChange) {
  kernel_.charge(1, kSleep, 1000, 4);
  pass({{1, "/1"}});
  const auto published = store_.series().at("/1").histograms[kSleep];
  kernel_.charge(1, kSleep, 1000, 4);
  pass({{1, "/1"}});
  EXPECT_EQ(published->count(), 4U);
  EXPECT_EQ(count("/1", kSleep), 8U);
}

TEST_F(SeriesStoreTest, UnchangedHistogramsAreNotCopied) {
  kernel_.charge(1, kSleep, 1000, 4);
  pass({{1, "/1"}});
  const auto before = store_.series().at("/1").histograms[kSleep];
  pass({{1, "/1"}});
  EXPECT_EQ(store_.series().at("/1").histograms[kSleep], before);
}

TEST_F(SeriesStoreTest, AnOpenedSeriesIsShownAtZeroAndTakesAPlace) {
  store_.set_max_series(1);
  store_.set_start_of_new(WallTime(std::chrono::seconds(7)));
  EXPECT_TRUE(store_.open("/a", kDisk));
  EXPECT_TRUE(store_.open("/a", kDisk));
  EXPECT_EQ(store_.histogram_series(), 1U);
  ASSERT_TRUE(store_.series().at("/a").histograms[kDisk]);
  EXPECT_TRUE(store_.series().at("/a").histograms[kDisk]->empty());
  store_.set_start_of_new(WallTime(std::chrono::seconds(9)));
  kernel_.charge(1, kDisk, 1000, 2);
  pass({{1, "/a"}});
  EXPECT_EQ(count("/a", kDisk), 2U);
  EXPECT_EQ(store_.series().at("/a").started[kDisk], WallTime(std::chrono::seconds(7)));
  EXPECT_FALSE(store_.open("/b", kDisk));
  EXPECT_FALSE(store_.contains("/b"));
  EXPECT_EQ(store_.folded_series(), 1U);
}

// Who kept a cgroup off the CPU is known for both together, so both are in one place.
TEST_F(SeriesStoreTest, WaitsAfterWakeupsAndPreemptionsComeTogether) {
  store_.set_max_series(3);
  kernel_.charge(1, OFFCPUD_RUNQ_PREEMPTED, 1000);
  pass({{1, "/1"}});
  EXPECT_TRUE(store_.series().at("/1").histograms[OFFCPUD_RUNQ_WAKEUP]);
  EXPECT_EQ(store_.histogram_series(), 2U);
  kernel_.charge(2, OFFCPUD_RUNQ_WAKEUP, 1000);  // one place is not enough
  pass({{1, "/1"}, {2, "/2"}});
  EXPECT_EQ(count("/2", OFFCPUD_RUNQ_WAKEUP), 0U);
  EXPECT_EQ(count("(other)", OFFCPUD_RUNQ_WAKEUP), 1U);
}

TEST_F(SeriesStoreTest, MakesRoomBeforeItFoldsIntoOther) {
  store_.set_max_series(1);
  store_.set_make_room([&](std::string_view path) {
    EXPECT_NE(path, "/old");
    const bool has_old = store_.contains("/old");
    store_.fold("/old", "/(removed)");
    return has_old;
  });
  kernel_.charge(1, kSleep, 1000, 3);
  pass({{1, "/old"}});
  kernel_.charge(2, kDisk, 1000, 2);
  pass({{1, "/old"}, {2, "/new"}});  // "/(removed)" has the place now
  EXPECT_EQ(count("/(removed)", kSleep), 3U);
  EXPECT_EQ(count("(other)", kDisk), 2U);
  store_.fold("/(removed)", "/a/(removed)");
  EXPECT_EQ(count("/a/(removed)", kSleep), 3U);
  EXPECT_EQ(store_.histogram_series(), 2U);
}

TEST_F(SeriesStoreTest, ASeriesThatStayedAtZeroIsNotFolded) {
  EXPECT_TRUE(store_.open("/a", kDisk));
  EXPECT_TRUE(store_.open_waits("/a", WaitFor::Lock, WallTime{}));
  store_.fold("/a", "/(removed)");
  EXPECT_EQ(store_.histogram_series(), 0U);
  EXPECT_TRUE(store_.series().empty());
}

class WaitSeriesTest : public SeriesStoreTest {
 protected:
  void waited(std::string path, WaitFor wait_for, std::uint64_t ns, std::uint64_t whole_ns) {
    EndedWaits ended{.cgroup = std::move(path), .wait_for = wait_for, .waits = {}};
    ended.waits.add(ns, whole_ns);
    store_.add_waits(ended.cgroup, ended, WallTime(std::chrono::seconds(5)));
  }
  const EstimatedHistogram& waits(std::string_view path, WaitFor wait_for) const {
    static const EstimatedHistogram none;
    const auto found = store_.series().find(path);
    if (found == store_.series().end()) return none;
    const auto& waits = found->second.waits[static_cast<std::size_t>(wait_for)];
    return waits ? *waits : none;
  }
};

TEST_F(WaitSeriesTest, EstimatesAddUpByPathAndWhatTheyWereFor) {
  waited("/a", WaitFor::Lock, 1'000, 4'000);
  waited("/a", WaitFor::Lock, 1'000, 2'000);
  waited("/a", WaitFor::Work, 7'000, 7'000);
  EXPECT_EQ(waits("/a", WaitFor::Lock).shown().count(), 6U);
  EXPECT_EQ(waits("/a", WaitFor::Lock).shown().sum_ns, 6'000U);
  EXPECT_EQ(waits("/a", WaitFor::Lock).variance_ns2(), 4e3 * 3e3 + 2e3 * 1e3);
  EXPECT_EQ(waits("/a", WaitFor::Work).shown().count(), 1U);
  EXPECT_EQ(store_.histogram_series(), 2U);
  const auto& series = store_.series().at("/a");
  EXPECT_FALSE(series.waits[static_cast<std::size_t>(WaitFor::Memory)]);
  EXPECT_EQ(series.waits_started[static_cast<std::size_t>(WaitFor::Lock)],
            WallTime(std::chrono::seconds(5)));
}

TEST_F(WaitSeriesTest, AreFoldedAndRemovedLikeOthers) {
  store_.set_max_series(1);
  waited("/a", WaitFor::Lock, 1'000, 1'400);
  waited("/a", WaitFor::Work, 1'000, 1'000);
  waited("/b", WaitFor::Lock, 1'000, 1'000);
  waited("/b", WaitFor::Lock, 1'000, 1'000);
  EXPECT_EQ(waits("(other)", WaitFor::Work).shown().count(), 1U);
  EXPECT_EQ(waits("(other)", WaitFor::Lock).shown().count(), 2U);
  EXPECT_EQ(store_.folded_series(), 2U);
  store_.set_max_series(10);
  store_.fold("/a", "/(removed)");
  EXPECT_EQ(waits("/(removed)", WaitFor::Lock).shown().sum_ns, 1'400U);
  EXPECT_EQ(waits("/(removed)", WaitFor::Lock).variance_ns2(), 1'400.0 * 400);
  EXPECT_EQ(store_.histogram_series(), 3U);
}

// Spec: the sum over `for` is the sum over `reason`. What nobody samples is told by the kernel.
TEST_F(WaitSeriesTest, AReasonThatIsNotExaminedIsUnknown) {
  store_.set_examined_kinds(1U << kDisk);
  kernel_.charge(7, kSleep, 1000, 3);
  kernel_.charge(7, kDisk, 500, 2);
  pass({{7, "/a"}});
  EXPECT_EQ(waits("/a", WaitFor::Unknown).shown().sum_ns, 3000U);
  EXPECT_EQ(waits("/a", WaitFor::Unknown).shown().slots,
            store_.series().at("/a").histograms[kSleep]->slots);
  EXPECT_EQ(waits("/a", WaitFor::Unknown).variance_ns2(), 0);
  store_.set_examined_kinds((1U << OFFCPUD_BLOCKED_KINDS) - 1);
  kernel_.charge(7, kSleep, 1000, 1);
  pass({{7, "/a"}});
  EXPECT_EQ(waits("/a", WaitFor::Unknown).shown().count(), 3U);
}

}  // namespace
}  // namespace offcpud
