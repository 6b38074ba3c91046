// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "kept_off.h"
#include "pipeline/taker.h"
#include "pipeline/wait_window.h"
#include "support/thread_record.h"
#include "unit/pipeline/pipeline_fixture.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;

class PipelineLimitsTest : public PipelineTest {
 protected:
  void set_max_series(std::size_t max_series) {
    PipelineOptions options = options_;
    options.max_series = max_series;
    pipeline_.set_options(options);
  }
};

// Spec: removed cgroups make room before a living one is folded into "(other)".
TEST_F(PipelineLimitsTest, RemovedCgroupsGiveTheirPlacesToLivingOnes) {
  set_max_series(6);
  for (std::uint64_t i = 0; i < 6; ++i) {
    create(kShortLived + i, "system.slice", "run-" + std::to_string(i) + ".scope");
    kernel_.charge(kShortLived + i, kSleep, 1000);
    kernel_.run(kShortLived + i, 1);
    ASSERT_TRUE(pass());
    remove(kShortLived + i);
    clock_.advance(1s);
  }
  kernel_.charge(tree_.inode("system.slice/nginx.service"), kSleep, 1000, 7);
  auto view = pass();
  ASSERT_TRUE(view);
  EXPECT_EQ(count(**view, "/system.slice/nginx.service"), 7U);
  EXPECT_EQ(find(**view, "(other)"), nullptr);
  EXPECT_EQ((*view)->folded_series, 0U);
  // The first ones have gone; "(removed)" took one place.
  EXPECT_EQ(find(**view, "/system.slice/run-0.scope"), nullptr);
  EXPECT_EQ(count(**view, "/system.slice/(removed)"), 2U);
  EXPECT_EQ(count(**view, "/system.slice/run-5.scope"), 1U);
  EXPECT_EQ(total(**view), 13U);

  // A late count of one that is gone does not bring its series back.
  kernel_.charge(kShortLived, kSleep, 1000);
  view = pass();
  ASSERT_TRUE(view);
  EXPECT_EQ(find(**view, "/system.slice/run-0.scope"), nullptr);
  EXPECT_EQ(count(**view, "/system.slice/(removed)"), 3U);

  // A new one of that name has a series again.
  create(kShortLived + 9, "system.slice", "run-0.scope");
  kernel_.charge(kShortLived + 9, kSleep, 1000);
  view = pass();
  ASSERT_TRUE(view);
  EXPECT_EQ(count(**view, "/system.slice/run-0.scope"), 1U);
  EXPECT_EQ(total(**view), 15U);
}

TEST_F(PipelineLimitsTest, RowsOfRemovedCgroupsGiveTheirPlacesToThoseThatOnlySleep) {
  set_max_series(2);
  create(kShortLived, "user.slice", "gone");
  kernel_.run(kShortLived, 5);
  create(kShortLived + 1, "user.slice", "gone too");
  kernel_.run(kShortLived + 1, 5);
  ASSERT_TRUE(pass());
  remove(kShortLived);
  remove(kShortLived + 1);
  kernel_.set_walk(walk_of(
      {blocked_thread(tree_.inode("system.slice/nginx.service"), OFFCPUD_BLOCKED_POLL, 5)}));
  const auto view = pass();
  ASSERT_TRUE(view);
  EXPECT_NE(find(**view, "/system.slice/nginx.service"), nullptr);
  ASSERT_NE(find(**view, "/user.slice/(removed)"), nullptr);
  EXPECT_EQ(find(**view, "/user.slice/(removed)")->running_ns, 10U);
  EXPECT_EQ(find(**view, "(other)"), nullptr);
}

// Spec: "(other)" of offcpud_kept_off_seconds_total is the sum of its histogram, too.
TEST_F(PipelineLimitsTest, WhoKeptItOffIsToldWhereItsWaitsAre) {
  const std::uint64_t nginx = tree_.inode("system.slice/nginx.service");
  set_max_series(1);
  kernel_.run(nginx, 5);  // it has a row, but no place for the two histograms
  kernel_.charge(nginx, OFFCPUD_RUNQ_PREEMPTED, 2'000'000);
  kernel_.keep_off(nginx, OFFCPUD_TAKEN_BY_KERNEL, 2'000'000);
  const auto view = pass();
  ASSERT_TRUE(view);
  ASSERT_NE(find(**view, "/system.slice/nginx.service"), nullptr);
  EXPECT_EQ(find(**view, "/system.slice/nginx.service")->kept_off, nullptr);
  const SubjectSeries* other = find(**view, "(other)");
  ASSERT_TRUE(other && other->kept_off);
  EXPECT_EQ(other->kept_off->takers.at(0).ns, 2'000'000U);
  EXPECT_EQ(other->histograms[OFFCPUD_RUNQ_PREEMPTED]->sum_ns, 2'000'000U);
}

// The first increase of a series counts in rate() only if Prometheus has seen it at 0.
TEST_F(PipelineLimitsTest, ALongWaitHasItsSeriesBeforeItEnds) {
  const std::uint64_t nginx = tree_.inode("system.slice/nginx.service");
  constexpr std::uint64_t kShort = 999'999'999, kLong = 1'000'000'000;
  kernel_.set_walk(walk_of({blocked_thread(nginx, OFFCPUD_BLOCKED_LOCK, kLong),
                            blocked_thread(nginx, OFFCPUD_BLOCKED_DISK, kShort),
                            blocked_thread(nginx, OFFCPUD_BLOCKED_POLL, 60 * kLong)}));
  auto window = std::make_shared<WaitWindow>();
  const auto site = [&](WaitFor wait_for, std::uint64_t age_ns, std::uint32_t lasting) {
    SiteWaits& waits = window->sites.emplace_back();
    waits.cgroup = "/system.slice/nginx.service";
    waits.wait_for = wait_for;
    waits.lasting = lasting;
    waits.oldest.ns = age_ns;
  };
  site(WaitFor::Lock, kLong, 1);
  site(WaitFor::Storage, kShort, 1);
  site(WaitFor::Answer, kLong, 0);
  site(WaitFor::Work, 60 * kLong, 1);
  pipeline_.add_waits(window);
  const auto view = pass();
  ASSERT_TRUE(view);
  const SubjectSeries* row = find(**view, "/system.slice/nginx.service");
  ASSERT_NE(row, nullptr);
  ASSERT_TRUE(row->histograms[OFFCPUD_BLOCKED_LOCK]);
  EXPECT_TRUE(row->histograms[OFFCPUD_BLOCKED_LOCK]->empty());
  EXPECT_FALSE(row->histograms[OFFCPUD_BLOCKED_DISK]) << "may be short";
  EXPECT_FALSE(row->histograms[OFFCPUD_BLOCKED_POLL]) << "is idle";
  ASSERT_TRUE(row->waits[static_cast<std::size_t>(WaitFor::Lock)]);
  EXPECT_FALSE(row->waits[static_cast<std::size_t>(WaitFor::Storage)]) << "may be short";
  EXPECT_FALSE(row->waits[static_cast<std::size_t>(WaitFor::Answer)]) << "has ended";
  EXPECT_FALSE(row->waits[static_cast<std::size_t>(WaitFor::Work)]) << "is idle";
  EXPECT_EQ((*view)->histogram_series, 2U);
}

}  // namespace
}  // namespace offcpud
