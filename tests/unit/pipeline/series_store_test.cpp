// SPDX-License-Identifier: Apache-2.0
#include "pipeline/series_store.h"

#include <gtest/gtest.h>

#include "support/fake_sample_source.h"

namespace offcpud {
namespace {

constexpr auto kSleep = OFFCPUD_BLOCKED_SLEEP;
constexpr auto kDisk = OFFCPUD_BLOCKED_DISK;

class SeriesStoreTest : public testing::Test {
 protected:
  // Reads the kernel and credits everything to the path given for its id.
  void pass(const std::map<std::uint64_t, std::string>& paths) {
    const auto sample = kernel_.read();
    for (const CgroupReading& reading : sample->cgroups) {
      store_.credit(paths.at(reading.cgroup_id), reading);
    }
    for (const CgroupReading& reading : sample->closed) {
      store_.credit(paths.at(reading.cgroup_id), reading);
      store_.forget(paths.at(reading.cgroup_id), reading);
    }
  }

  std::uint64_t count(std::string_view path, offcpud_hist_kind kind) const {
    const auto found = store_.series().find(path);
    if (found == store_.series().end() || !found->second.histograms[kind]) return 0;
    return found->second.histograms[kind]->count();
  }

  FakeSampleSource kernel_;
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

}  // namespace
}  // namespace offcpud
