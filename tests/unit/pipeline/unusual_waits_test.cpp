// SPDX-License-Identifier: Apache-2.0
#include "pipeline/unusual_waits.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "pipeline/stall.h"
#include "support/fake_clock.h"
#include "unit/pipeline/short_names.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using test::labels;

std::uint64_t ns(std::chrono::nanoseconds time) {
  return static_cast<std::uint64_t>(time.count());
}

// One cgroup and one thread of it whose wait nobody can tell.
class UnusualWaitsTest : public testing::Test {
 protected:
  UnusualWaitsTest() { unusual_.set_factor(100); }

  // So much time passes, of which the cgroup's threads run this share of one CPU, and want another.
  void live(std::chrono::seconds time, double runs, double wants = 0) {
    for (auto left = time; left > 0s; left -= 1s) {
      clock_.advance(1s);
      ran_ns_ += runs * 1e9;
      wanted_ns_ += wants * 1e9;
      found_ = unusual_.find(subjects(), stalls_, clock_.now());
    }
  }
  void falls_silent() {
    since_ = clock_.now();
    windows_have_ = true;
  }
  // It has lasted for as long as a stall.
  void goes_on(std::chrono::seconds time, double runs, double wants = 0) {
    for (auto left = time; left > 0s; left -= 1s) {
      const bool long_enough = clock_.now() - since_ >= 10s;
      stalls_.untold.clear();
      if (long_enough) stalls_.untold.push_back(std::make_shared<const Stall>(stall()));
      if (windows_have_) examine();
      live(1s, runs, wants);
    }
  }
  void examine() {
    WaitWindow window;
    UsualWaits usual = usual_;
    usual.silent_ns = ns(clock_.now() - since_);
    window.blocks.push_back({.tid = 7,
                             .since_ns = ns(since_.time_since_epoch()),
                             .wait = nullptr,
                             .usual = std::make_shared<const UsualWaits>(usual)});
    unusual_.take_examined(window);
  }
  Stall stall() const {
    Stall stall;
    stall.told = false;
    auto wait = std::make_shared<ExaminedWait>();
    wait->wait_for = wait_for_;
    stall.wait = wait;
    stall.labels = labels_;
    stall.tid = 7;
    stall.since_ns = ns(since_.time_since_epoch());
    stall.duration_ns = ns(clock_.now() - since_);
    return stall;
  }
  std::vector<SubjectSeries> subjects() const {
    auto waits = std::make_shared<LatencyHistogram>();
    waits->sum_ns = static_cast<std::uint64_t>(wanted_ns_);
    SubjectSeries series;
    series.labels = labels_;
    series.running_ns = static_cast<std::uint64_t>(ran_ns_);
    series.histograms[OFFCPUD_BLOCKED_KINDS] = waits;
    std::vector<SubjectSeries> all = {series};
    series.labels = beside_;
    if (beside_) all.push_back(series);
    return all;
  }

  FakeClock clock_;
  std::shared_ptr<const SubjectLabels> labels_ = labels("/shop.service");
  std::shared_ptr<const SubjectLabels> beside_;  // of another cgroup that is as busy
  UsualWaits usual_{.waits = 1'200, .p99_ns = 5'000'000, .longest_ns = 9'000'000};
  WaitFor wait_for_ = WaitFor::Unknown;
  UnusualWaits unusual_;
  StallList stalls_;
  MonotonicTime since_;
  bool windows_have_ = false;
  double ran_ns_ = 0, wanted_ns_ = 0;
  std::vector<UnusualWait> found_;
};

TEST_F(UnusualWaitsTest, SilenceWhileTheUnitGoesOnIsUnusual) {
  live(120s, 0.3);
  EXPECT_TRUE(found_.empty());
  falls_silent();
  goes_on(10s, 0.25);
  EXPECT_TRUE(found_.empty()) << "no shorter than a stall";
  goes_on(3s, 0.25);
  ASSERT_EQ(found_.size(), 1U);
  EXPECT_EQ(found_[0].stall->tid, 7U);
  EXPECT_EQ(found_[0].usual->p99_ns, 5'000'000U);
  EXPECT_DOUBLE_EQ(found_[0].usual->waits, 1'200);
  goes_on(600s, 0.25);
  EXPECT_EQ(found_.size(), 1U);
}

TEST_F(UnusualWaitsTest, SilenceOfAnIdleUnitIsNot) {
  live(120s, 0.3);
  falls_silent();
  for (int minute = 0; minute < 60; ++minute) {
    goes_on(60s, 0.05);
    ASSERT_TRUE(found_.empty()) << "the whole night, although it gets used to it";
  }
}

TEST_F(UnusualWaitsTest, AUnitThatIsNextToIdleHasNoWork) {
  live(120s, 0.04);
  falls_silent();
  goes_on(60s, 0.04);
  EXPECT_TRUE(found_.empty());
}

TEST_F(UnusualWaitsTest, AUnitThatWantsToRunHasWork) {
  live(120s, 0.3);
  falls_silent();
  goes_on(20s, 0.05, 0.5);
  EXPECT_EQ(found_.size(), 1U);
}

// What the rest of the unit waits for, the silent place waits for, too.
TEST_F(UnusualWaitsTest, AStallThatBeganWithTheSilenceIsASign) {
  live(120s, 0.3);
  falls_silent();
  Stall told = stall();
  told.told = true;
  told.since_ns += ns(8s);
  stalls_.stalls = {std::make_shared<const Stall>(told)};
  goes_on(20s, 0);
  EXPECT_EQ(found_.size(), 1U);

  told.since_ns += ns(3s);
  stalls_.stalls = {std::make_shared<const Stall>(told)};
  goes_on(1s, 0);
  EXPECT_TRUE(found_.empty()) << "it began later, for another cause";

  told.since_ns -= ns(3s);
  told.labels = labels("/other.service");
  stalls_.stalls = {std::make_shared<const Stall>(told)};
  goes_on(1s, 0);
  EXPECT_TRUE(found_.empty()) << "that of another unit is none";
}

TEST_F(UnusualWaitsTest, WhatIsNotFarLongerThanUsualIsNot) {
  usual_.p99_ns = 300'000'000;  // 30 s are 100 times this
  live(120s, 0.3);
  falls_silent();
  goes_on(29s, 0.3);
  EXPECT_TRUE(found_.empty());
  goes_on(3s, 0.3);
  EXPECT_EQ(found_.size(), 1U);
  unusual_.set_factor(1'000);
  goes_on(2s, 0.3);
  EXPECT_TRUE(found_.empty());
  unusual_.set_factor(0);
  goes_on(600s, 0.3);
  EXPECT_TRUE(found_.empty()) << "0: nothing is";
}

TEST_F(UnusualWaitsTest, APlaceWithoutAPastIsNot) {
  live(120s, 0.3);
  falls_silent();
  windows_have_ = false;
  goes_on(60s, 0.3);
  EXPECT_TRUE(found_.empty());
}

TEST_F(UnusualWaitsTest, WaitsThatSomebodyCanTellAreNot) {
  wait_for_ = WaitFor::Lock;
  live(120s, 0.3);
  falls_silent();
  goes_on(60s, 0.3);
  EXPECT_TRUE(found_.empty());
}

// Who works there is not who waits there.
TEST_F(UnusualWaitsTest, WhatBelongsToNoUnitIsNot) {
  for (const char* cgroup : {"/", "(other)", "(unknown)"}) {
    labels_ = labels(cgroup);
    live(120s, 0.3);
    falls_silent();
    goes_on(60s, 0.3);
    EXPECT_TRUE(found_.empty()) << cgroup;
  }
}

TEST_F(UnusualWaitsTest, NothingIsKnownOfAYoungUnit) {
  live(30s, 0.3);
  falls_silent();
  goes_on(29s, 0.3);
  EXPECT_TRUE(found_.empty());
  goes_on(10s, 0.3);
  EXPECT_EQ(found_.size(), 1U) << "a minute old";
}

TEST_F(UnusualWaitsTest, IsBoundedAndEachCgroupHasAShare) {
  beside_ = labels("/tiny.service");
  live(120s, 0.3);
  falls_silent();
  clock_.advance(20s);
  WaitWindow window;
  for (std::uint32_t tid = 1; tid <= 500; ++tid) {
    Stall each = stall();
    each.tid = tid;
    stalls_.untold.push_back(std::make_shared<const Stall>(each));
    UsualWaits usual = usual_;
    usual.silent_ns = ns(20s);
    window.blocks.push_back({.tid = tid,
                             .since_ns = each.since_ns,
                             .wait = nullptr,
                             .usual = std::make_shared<const UsualWaits>(usual)});
  }
  Stall last = stall();
  last.tid = 1'000;
  last.labels = beside_;
  window.blocks.push_back({.tid = last.tid,
                           .since_ns = last.since_ns,
                           .wait = nullptr,
                           .usual = window.blocks[0].usual});
  stalls_.untold.push_back(std::make_shared<const Stall>(last));
  unusual_.take_examined(window);
  live(1s, 6.3);
  ASSERT_EQ(found_.size(), UnusualWaits::kMost);
  EXPECT_EQ(found_[0].stall->tid, 1U);
  EXPECT_EQ(found_[98].stall->tid, 99U);
  EXPECT_EQ(found_[99].stall->tid, 1'000U) << "another cgroup's is not hidden by a crowd";
  unusual_.take_examined({});
  live(1s, 0.3);
  EXPECT_TRUE(found_.empty()) << "they are over";
}

TEST(FadingRate, IsTheMeanOfWhatItWasToldAndForgets) {
  FadingRate rate(10s);
  EXPECT_EQ(rate.per_second(), 0);
  for (int i = 0; i < 5; ++i) rate.add(4, 2s);
  EXPECT_DOUBLE_EQ(rate.per_second(), 2) << "from the first on";
  rate.add(0, 0s);
  EXPECT_DOUBLE_EQ(rate.per_second(), 2);
  for (int i = 0; i < 100; ++i) rate.add(1, 2s);
  EXPECT_NEAR(rate.per_second(), 0.5, 0.001);
  for (int i = 0; i < 10; ++i) rate.add(0, 1s);
  EXPECT_NEAR(rate.per_second(), 0.25, 0.001) << "half of it in its half-life";
}

}  // namespace
}  // namespace offcpud
